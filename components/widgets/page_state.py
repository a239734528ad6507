"""Widgets that all panels use: inputs of a request to the model, and outputs of its results."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import gradio as gr

from gleanvid.compressors.base import Compressor

from ..jobs.display import Message, PageUpdate
from ..jobs.examples import Example, uploaded
from ..jobs.methods import RATIO, make_compressor, pinned_settings
from ..jobs.recorded import Entry
from ..jobs.request import EDITED, Request, Sides
from ..viewer.component import MaskViewer
from .events import Changes, Values
from .gathered import Gathered
from .method_settings import MethodSettings


def owner(user: gr.Request) -> str:
    """Return the session id of the page that sent an event."""
    return str(user.session_hash)


@dataclass(frozen=True)
class Inputs:
    """The widgets that hold the clip, the question and the settings of a request."""

    settings: Mapping[str, Any]  # key in a link -> widget
    parts: Sequence[MethodSettings]  # widgets with the settings of the compressors
    defaults: Mapping[str, Any]  # key in a link -> default of a compressor's setting
    question: gr.Textbox
    pinned: gr.Textbox  # compressor of side A as JSON; empty: all tokens
    runs: gr.State  # ids of the runs in the viewer: B, A, then others
    shelf: gr.State  # uploaded clips: path -> thumbnail
    both: gr.Checkbox  # whether to answer with the compressor of A, too
    examples: Mapping[str, Example]  # path of a clip -> its example
    recordings: Mapping[str, Entry]  # name in the menu of models -> recording
    gathered: Gathered  # values of all settings, the question and side A

    def when(self, event: Callable[..., Any], *arguments: Any, **options: Any) -> Any:
        """On ``event``, gather the current settings; then call the handler as in :meth:`after`."""
        return self.after(self.gathered.on(event).then, *arguments, **options)

    def after(
        self,
        event: Callable[..., Any],
        handler: Callable[..., Any],
        outputs: Sequence[Any],
        also: Sequence[Any] = (),
        **how: Any,
    ) -> Any:
        """On ``event``, call ``handler`` with the last settings that the browser gathered.

        The handler unpacks them by :meth:`read`. ``also``: further inputs of the handler. ``how``:
        options of the event.
        """
        inputs = {self.gathered.box, self.settings["clip"], self.runs, *also}
        return event(handler, inputs, list(outputs), **how)

    def read(self, values: Values) -> Values:
        """Return all inputs of an event by widget, with those unpacked from ``gathered.box``."""
        return {**values, **self.gathered.read(values[self.gathered.box])}

    def example(self, path: str | None) -> Example | None:
        """Return the clip at ``path`` as an example, if it is one or a clip of Glimpse."""
        return self.examples.get(path or "") or uploaded(path)

    def by_key(self, values: Values) -> dict[str, Any]:
        """Return all settings by their key in a link."""
        own = dict(self.defaults)
        for part in self.parts:
            own |= {key: value for key, value in values[part].items() if key in own}
        return own | {key: values[widget] for key, widget in self.settings.items()}

    def request(self, values: Values) -> Request:
        settings = self.by_key(values)
        method = EDITED.partition(".")[0] if settings.get(EDITED) else settings["compressor"]
        recording = self.recordings.get(settings["model"])
        return Request(
            path=recording.path if recording else settings["clip"],
            frames=int(settings["frames"] or 0),
            model=settings["model"],
            compressor=method,
            settings=_own_settings(method, settings) | {RATIO: settings[RATIO]},
            pixels=int(settings["pixels"] or 0),
            sampling={
                "seed": settings["seed"],
                "temperature": settings["temperature"],
                "top_p": settings["top_p"],
                "max_new_tokens": int(settings["new_tokens"] or 0),
            },
            example=None if recording else self.example(settings["clip"]),
            start=(settings["from"] or "").strip(),
            end=(settings["to"] or "").strip(),
        )

    def sides(self, values: Values) -> Sides:
        model = values[self.settings["model"]]
        return Sides(
            runs=values[self.runs] or [],
            pinned=pinned_settings(values[self.pinned], model),
            question=values[self.question] or "",
            sampling=self.request(values).sampling,
            version=self.gathered.version(values[self.gathered.box]),
            model=model,
        )

    def maker(self, values: Values) -> Callable[[str, float], Compressor]:
        """Return a function that makes a compressor from its name and a retention ratio.

        All other settings of the compressor have their values on the page.
        """
        settings = self.by_key(values)

        def make(method: str, ratio: float) -> Compressor:
            return make_compressor(method, _own_settings(method, settings) | {RATIO: ratio})

        return make


def _own_settings(method: str, settings: Mapping[str, Any]) -> dict[str, Any]:
    prefix = f"{method}."
    return {
        key.removeprefix(prefix): value for key, value in settings.items() if key.startswith(prefix)
    }


@dataclass(frozen=True)
class Outputs:
    """The widgets that show results."""

    notice: gr.HTML
    viewer: MaskViewer
    runs: gr.State  # the same widget as Inputs.runs
    status: gr.HTML
    ready: gr.HTML  # suggested questions about the clip
    tabs: gr.Tabs
    starters: tuple[gr.Button, ...]  # buttons that start a job on the model
    stoppers: tuple[gr.Button, ...]  # buttons that end the job of their panel

    def changes(self, update: PageUpdate, version: int = 0) -> Changes:
        """Return the new widget values that show an update of the page.

        ``version``: version of the settings from which the update was computed. The browser ignores
        updates of an older version than it shows; 0 is never ignored.
        """
        filled = {
            self.notice: self.versioned(update.notice, version),
            self.runs: update.runs,
            self.status: update.status,
        }
        changed: Changes = {widget: value for widget, value in filled.items() if value is not None}
        pending = "" if update.viewer is not None else update.pending
        viewer = {"value": update.viewer, "answers": update.answers, "pending": pending}
        props: dict[str, Any] = {name: prop for name, prop in viewer.items() if prop is not None}
        if props:
            changed[self.viewer] = gr.update(version=version, **props)
        return changed | (self.working(False) if update.done else {})

    @staticmethod
    def versioned(notice: Message | None, version: int) -> dict[str, Any] | None:
        return None if notice is None else {**notice, "version": version}

    @property
    def changed(self) -> list[Any]:
        """All widgets that :meth:`changes` may change."""
        return [*self.previewed, *self.buttons]

    @property
    def previewed(self) -> list[Any]:
        """Widgets that a preview may change. Keep the list short: each one costs rendering time."""
        return [self.notice, self.viewer, self.runs, self.status]

    @property
    def results(self) -> list[Any]:
        """Widgets that :meth:`cleared` empties."""
        return [self.viewer, self.runs]

    def cleared(self) -> Changes:
        nothing = gr.update(version=0, value=None, answers=[], pending="")
        return {self.viewer: nothing, self.runs: []}

    @property
    def buttons(self) -> list[Any]:
        return [*self.starters, *self.stoppers]

    def working(self, running: bool, stop: gr.Button | None = None) -> Changes:
        """While a job runs, enable only ``stop``; otherwise enable all buttons that start a job."""
        begin = dict.fromkeys(self.starters, gr.update(interactive=not running))
        end = {button: gr.update(interactive=button is stop) for button in self.stoppers}
        return begin | end
