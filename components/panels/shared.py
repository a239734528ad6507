"""What the panels share: widgets that several of them read or change, and how events behave.

Handlers take and return dictionaries from widget to value, so no position stands for a widget.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import gradio as gr

from gleanvid.compressors.base import Compressor

from ..session.actions import preview as sides
from ..session.actions.ask import Habits
from ..session.display import PageUpdate
from ..session.examples import Example
from ..session.request import (
    RATIO,
    Request,
    Sides,
    make_compressor,
    own_settings,
    pinned_settings,
    within,
)
from ..session.work.engine import Engine
from ..session.work.recorded import Entry
from ..viewer.component import MaskViewer
from .method_settings import MethodSettings

# Gradio tells every output how far its event is, and searches the page for each: nothing shows it.
UNSEEN: dict[str, Any] = {
    "show_progress": "hidden",
    "show_progress_on": [],
    "api_visibility": "private",
}
# Gradio would skip an event that comes while the one before is on its way.
AT_ONCE: dict[str, Any] = {"queue": False, "trigger_mode": "multiple", **UNSEEN}
# The engine's line lets one at a time to the model and tells the others where they stand.
IN_LINE: dict[str, Any] = {"concurrency_limit": None, **UNSEEN}
GATHER = "(...values) => window.gvGather(values)"
PACED = "(...values) => window.gvPaced(values)"
SHOWN = "() => window.gvShown()"
UNREADABLE = "The settings of the page could not be read. Load it again."

Values = Mapping[Any, Any]  # by widget: what an event brings
Changes = dict[Any, Any]  # by widget: what it changes; the others stay


class Packed:
    """The values of ``widgets`` as one value of :attr:`box`, in this order, and how often so far.

    Gradio searches the whole page for each input of an event, and tells each how far the event is.
    So a script keeps the values within the page, and the event that follows has a single input.
    """

    def __init__(self, widgets: Sequence[Any]) -> None:
        self.widgets = list(widgets)
        self.box = gr.JSON(visible=False)

    def gathered(self, event: Callable[..., Any]) -> Any:
        """Puts all values into the box."""
        return event(None, self.widgets, self.box, js=GATHER, **UNSEEN)

    def paced(self, event: Callable[..., Any]) -> Any:
        """The same; of many events at once not every one."""
        how: Any = {"trigger_mode": "multiple", **UNSEEN}
        return event(None, self.widgets, self.box, js=PACED, **how)

    def read(self, values: Any) -> dict[Any, Any]:
        """By widget: what the box holds, checked by each widget as Gradio checks an input.

        Raises ``gr.Error``: a browser may send anything.
        """
        try:
            pairs = zip(self.widgets, values[:-1], strict=True)
            return {widget: widget.preprocess(_typed(widget, value)) for widget, value in pairs}
        except (TypeError, ValueError, KeyError, AttributeError, OverflowError) as error:
            raise gr.Error(UNREADABLE, print_exception=False) from error

    @staticmethod
    def turn(values: Any) -> int:
        """How often the values had been gathered, these included."""
        return values[-1] if isinstance(values[-1], int) else 0


def _typed(widget: Any, value: Any) -> Any:
    """A number as its box puts it once typing ends. Raises ``ValueError`` for what it cannot be."""
    if isinstance(widget, MethodSettings):
        return own_settings(value)
    if isinstance(widget, gr.Dropdown) and value not in [row[1] for row in widget.choices]:
        raise ValueError(f"{value!r} is not one of the choices")  # Gradio lets lists and None pass
    if not isinstance(widget, gr.Slider | gr.Number):
        return value
    if value is not None and not isinstance(value, int | float):
        raise TypeError(f"{value!r} is no number")
    return within(value, widget.minimum, widget.maximum, widget.value)


@dataclass(frozen=True)
class Shared:
    """Widgets that more than one panel reads or changes."""

    settings: Mapping[str, Any]  # what a request is made of, by name in a link
    parts: Sequence[MethodSettings]  # the settings of methods that are not at their default
    defaults: Mapping[str, Any]  # of the settings of methods, by name in a link
    question: gr.Textbox
    notice: gr.HTML
    ready: gr.HTML  # questions offered for the clip
    viewer: MaskViewer
    status: gr.HTML
    tabs: gr.Tabs
    runs: gr.State  # ids of the runs on show: B, A, then others
    pinned: gr.Textbox  # settings of A's compressor as JSON; empty for all tokens
    exchanges: gr.State  # what the model remembers
    habits: Mapping[str, gr.Checkbox]  # by field of Habits
    examples: Mapping[str, Example]  # by path
    recordings: Mapping[str, Entry]  # by the name of their model: it comes with its clip
    packed: Packed  # the values of all settings, of the question and of A
    starters: tuple[gr.Button, ...]  # buttons that begin work at the model
    stoppers: tuple[gr.Button, ...]  # each ends what began beside it

    def when(self, event: Callable[..., Any], *handled: Any, **how: Any) -> Any:
        """As :meth:`after`, with all that a request is made of as it stands then."""
        return self.after(self.packed.gathered(event).then, *handled, **how)

    def after(
        self,
        event: Callable[..., Any],
        handler: Callable[..., Any],
        outputs: Sequence[Any],
        also: Sequence[Any] = (),
        **how: Any,
    ) -> Any:
        """``handler`` on ``event``, with what was gathered for an event before.

        The handler gives what it gets to :meth:`unpacked`. ``also``: further inputs.
        """
        inputs = {self.packed.box, self.settings["clip"], self.runs, *also}
        return event(handler, inputs, list(outputs), **how)

    def unpacked(self, values: Values) -> Values:
        """By widget: the inputs of :meth:`when`, those in the box among them."""
        return {**values, **self.packed.read(values[self.packed.box])}

    def named(self, values: Values) -> dict[str, Any]:
        """All settings as they stand, by name in a link."""
        own = dict(self.defaults)
        for part in self.parts:
            own |= {name: value for name, value in values[part].items() if name in own}
        return own | {name: values[widget] for name, widget in self.settings.items()}

    def request(self, values: Values) -> Request:
        named = self.named(values)
        method = named["compressor"]
        recording = self.recordings.get(named["model"])
        return Request(
            path=recording.path if recording else named["clip"],
            frames=int(named["frames"] or 0),
            model=named["model"],
            compressor=method,
            settings=settings_of(method, named) | {RATIO: named[RATIO]},
            pixels=int(named["pixels"] or 0),
            sampling={
                "seed": named["seed"],
                "temperature": named["temperature"],
                "top_p": named["top_p"],
                "max_new_tokens": int(named["new_tokens"] or 0),
            },
            example=None if recording else self.examples.get(named["clip"]),
        )

    def sides(self, values: Values) -> Sides:
        question, sampling = values[self.question] or "", self.request(values).sampling
        pinned = pinned_settings(values[self.pinned])
        turn, model = self.packed.turn(values[self.packed.box]), values[self.settings["model"]]
        return Sides(values[self.runs] or [], pinned, question, sampling, turn, model)

    def habits_of(self, values: Values) -> Habits:
        return Habits(**{name: bool(values[box]) for name, box in self.habits.items()})

    def maker(self, values: Values) -> Callable[[str, float], Compressor]:
        """Makes a method at a ratio, its other settings as they stand in the sidebar."""
        named = self.named(values)

        def make(method: str, ratio: float) -> Compressor:
            return make_compressor(method, settings_of(method, named) | {RATIO: ratio})

        return make

    def changes(self, update: PageUpdate, turn: int = 0) -> Changes:
        """``turn``: of the settings that the update is of; none of before is shown after it."""
        parts = {
            self.notice: update.notice and update.notice | {"turn": turn},
            self.runs: update.runs,
            self.status: update.status,
            self.exchanges: update.exchanges,
        }
        changed: Changes = {widget: value for widget, value in parts.items() if value is not None}
        pending = "" if update.viewer is not None else update.pending
        viewer = {"value": update.viewer, "answers": update.answers, "pending": pending}
        props: dict[str, Any] = {name: prop for name, prop in viewer.items() if prop is not None}
        if props:
            changed[self.viewer] = gr.update(turn=turn, **props)
        return changed | (self.working(False) if update.done else {})

    @property
    def changed(self) -> list[Any]:
        """All that :meth:`changes` may change."""
        return [*self.previewed, self.exchanges, *self.buttons]

    @property
    def previewed(self) -> list[Any]:
        """What changes without a question. Keep short: every output costs rendering time."""
        return [self.notice, self.viewer, self.runs, self.status]

    @property
    def results(self) -> list[Any]:
        """What :meth:`cleared` empties."""
        return [self.exchanges, self.viewer, self.runs]

    def cleared(self) -> Changes:
        nothing = gr.update(turn=0, value=None, answers=[], pending="")
        return {self.exchanges: [], self.viewer: nothing, self.runs: []}

    @property
    def buttons(self) -> list[Any]:
        return [*self.starters, *self.stoppers]

    def working(self, running: bool, stop: gr.Button | None = None) -> Changes:
        """``stop`` alone works while something runs, and every button that begins work before."""
        begin = dict.fromkeys(self.starters, gr.update(interactive=not running))
        end = {button: gr.update(interactive=button is stop) for button in self.stoppers}
        return begin | end


def settings_of(method: str, named: Mapping[str, Any]) -> dict[str, Any]:
    """The own settings of a method, out of all settings by name in a link."""
    prefix = f"{method}."
    return {
        name.removeprefix(prefix): value for name, value in named.items() if name.startswith(prefix)
    }


def owner(user: gr.Request) -> str:
    """The page that an event comes from."""
    return str(user.session_hash)


def or_nothing(changes: Iterable[Changes]) -> Iterator[Changes]:
    """Without what is no change. Gradio empties the outputs of a generator that yields nothing."""
    is_changed = False
    for change in filter(None, changes):
        is_changed = True
        yield change
    if not is_changed:
        yield gr.skip()


LIVE = "live"  # of a preview that takes longer: it is to be answered afterwards


class Previews:
    """Makes the events that show the tokens of the clip under the settings as they are.

    Gradio's queue may hand a page what came of two of its events in the wrong order, and of updates
    that come at once the last alone, so the queue takes only those that last: the others are
    answered like any request. ``problem`` says why settings are refused, where they are.
    """

    def __init__(self, engine: Engine, shared: Shared, stop: gr.Button, problem: gr.HTML) -> None:
        self.engine, self.shared, self.stop, self.problem = engine, shared, stop, problem
        self.late = gr.Textbox(visible="hidden", show_label=False, elem_id="gv-late")
        self.outputs = [*shared.previewed, stop, problem]
        self.lasting = shared.when(
            self.late.change, self.on_late, self.outputs, trigger_mode="multiple", **IN_LINE
        )

    def __call__(self, event: Callable[..., Any], live: bool = True) -> Any:
        """``live``: whether it may be answered, too."""
        return self._after(self.shared.packed.gathered(event), live)

    def of_moves(self, event: Callable[..., Any]) -> Any:
        """The tokens while settings are moved, at the pace at which they can be shown."""
        moved = self._after(self.shared.packed.paced(event), live=True)
        moved.then(None, None, None, js=SHOWN, **UNSEEN)
        return moved

    def _after(self, gathered: Any, live: bool) -> Any:
        def on_preview(user: gr.Request, values: Values) -> Changes:
            return self.at_once(owner(user), self.shared.unpacked(values), live)

        outputs = [*self.outputs, self.late]
        return self.shared.after(gathered.then, on_preview, outputs, **AT_ONCE)

    def at_once(self, page: str, values: Values, live: bool) -> Changes:
        """The tokens, or word to :attr:`late` that they take longer."""
        request, both = self.shared.request(values), self.shared.sides(values)
        if not sides.is_at_hand(self.engine, request, both):
            return {self.late: f"{both.turn} {LIVE if live else ''}"}
        changes: Changes = {}
        for change in self.changes(page, request, both):
            changes |= change
        return changes or gr.skip()

    def on_late(self, user: gr.Request, values: Values) -> Iterator[Changes]:
        values = self.shared.unpacked(values)
        given = self.shared.request(values), self.shared.sides(values)
        yield from or_nothing(self.changes(owner(user), *given))

    def changes(self, page: str, request: Request, both: Sides) -> Iterator[Changes]:
        refused = {self.problem: refusal(request)}
        for update in sides.preview(self.engine, request, both, page):
            stopping: Changes = {self.stop: gr.update(interactive=update.stoppable)}
            if self.engine.pages.busy(page):  # its own Stop ends both
                stopping = {}
            yield refused | stopping | self.shared.changes(update, both.turn)


def refusal(request: Request) -> str:
    """Why the settings cannot be used, and what the picture is then of; empty where they can."""
    try:
        request.make_compressor()
    except ValueError as error:
        return f"{str(error).replace('_', ' ')}. The picture is of the settings before."
    return ""
