"""Write all settings to the page's URL; check and apply the settings of a link.

A reloaded tab also gets its results back: the browser stores the ids of its runs.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import gradio as gr
from gradio.utils import get_upload_folder

from ..compare.plans import RATIOS
from ..jobs.display import message, status
from ..jobs.examples import Example, example_of, ready
from ..jobs.local import PHOTOS
from ..jobs.methods import RATIO, can_answer
from ..tokens.clip import ClipPanel, shortened
from ..tokens.preview import View
from ..widgets.controls import given_settings
from ..widgets.events import AT_ONCE, PRIVATE, Changes, part, script
from ..widgets.panel import Page, Panel
from . import restore
from .query import Links, unread_value, without_own_clip
from .settings import SettingsPanel

UPLOADED = re.compile("[0-9a-f]{64}")  # name of an upload's folder: a hash of the file
COPY = "Copy link to these settings"
UNREAD = """<p class="gv-unread" role="status" hidden><span></span>
<button type="button" class="gv-plain">Dismiss</button></p>"""


def copy_button() -> gr.Button:
    """Make the button that copies the page's URL, which contains all changed settings."""
    copy = gr.Button(COPY, size="sm", elem_id="gv-copy")
    copied = copy.click(None, None, copy, js=script("copyLink"), api_visibility="private")
    copied.then(None, None, copy, js=script("afterCopy", COPY), api_visibility="private")
    return copy


class LinkPanel(Panel):
    """Applies the parameters of the page's URL as the page opens, and names the invalid ones.

    ``start``: compressor settings with which the page opens, if a vLLM server sets them; else None.
    """

    def __init__(self, start: Mapping[str, Any] | None, clip: ClipPanel) -> None:
        self.start, self.clip = start, clip
        self.unread = part("unread", UNREAD, None, elem_id="gv-unread")

    def connect_to(self, page: Page, settings: SettingsPanel, named: Mapping[str, Any]) -> None:
        """Bind the events. ``named``: widget by its key in a link."""
        self.page, self.controls, self.named = page, settings.controls, named
        titles = [tab.title for tab in page.tabs]
        self.links = Links(named, self.controls.own, self.clip_named, titles)
        self.write_changes(settings)
        page.outputs.tabs.select(None, None, None, js=script("openedTab"), **PRIVATE)
        outputs = page.outputs
        # Input of the load event: the state that the browser stored. Output: id of the run shown.
        self.kept = gr.Textbox(visible=False)
        lines = [self.unread, outputs.notice, outputs.ready, outputs.tabs, outputs.status]
        others = [widget for tab in page.tabs for widget in tab.cleared()]
        shelf = [self.clip.shelf, self.clip.own]
        widgets = [*named.values(), *self.controls.parts, *others, *outputs.results, *shelf]
        opened = page.blocks.load(
            self.on_load,
            self.kept,
            [self.kept, *lines, *widgets],
            js=self.opening_script(settings),
            **AT_ONCE,
        )
        show = script("openLink", self.start is not None)
        opened.then(None, [self.kept, named["clip"]], None, js=show, **PRIVATE)
        page.inputs.gathered.on(opened.then)

    def write_changes(self, settings: SettingsPanel) -> None:
        """Bind the events by which widgets write their values to the page's URL.

        Every event slows the opening of the page. So most settings have none: the script that
        gathers all values (``assets/page/settings.js``) also writes them.
        """
        gathered = settings.moved()
        for key, widget in self.named.items():
            # ``assets/page/chosen_clip.js`` writes the clip to the page's URL.
            if key != "clip" and widget not in gathered:
                widget.change(None, widget, None, js=script("writeSetting", key), **PRIVATE)

    def opening_script(self, settings: SettingsPanel) -> str:
        """Return the script that prepares the page, with the keys and defaults of all settings."""
        keys = {widget: key for key, widget in self.named.items()}
        # A MethodSettings widget holds many settings, so it has no single key in a link.
        keys |= dict.fromkeys(self.controls.parts, "")
        defaults = {key: widget.value for key, widget in self.named.items()}
        return script(
            "openSettings",
            [keys.get(widget) for widget in self.page.inputs.gathered.widgets],
            defaults | self.controls.defaults,
            [shortened(example.path) for example in self.page.examples],
            [name for _, name in self.named["model"].choices if not can_answer(name)],
        )

    def on_load(self, user: gr.Request, text: str | None) -> Changes:
        """Apply the settings of the link, and restore the results whose ids the browser stored."""
        given, outputs, engine = dict(user.query_params), self.page.outputs, self.page.engine
        query = without_own_clip(given)
        settings = self.linked_settings(query)
        model = self.named["model"]
        back = restore.restored(engine, text, self.kept_clip, settings.get(model, model.value))
        if back and back.view:
            changes = settings | self.returned(back, back.view, query)
        else:
            changes = self.emptied(settings, back) | settings
        changes |= self.own_clips(changes, query, back)
        if model in changes:  # also offer models loaded since the server's start
            models = self.clip.models(self.example(changes.get(self.named["clip"])))
            changes[model] = gr.update(value=changes[model], choices=models)
        if (tab := query.get("tab", "")) in self.links.tabs:
            changes[outputs.tabs] = gr.update(selected=tab)
        runs = changes.get(outputs.runs, outputs.runs.value)
        now = status(engine, engine.runs.get(runs[0] if runs else None))
        return changes | self.misread(given, query) | {outputs.status: now}

    def linked_settings(self, query: Mapping[str, str]) -> Changes:
        """Return widget values with the settings of a link, and a model that suits its clip."""
        changes = self.opening_settings(self.links.settings(query))
        changes |= {self.named[key]: value for key, value in self.links.valid(query).items()}
        example = self.example(changes.get(self.named["clip"]))
        chosen = changes.get(self.named["model"])
        if example and chosen not in [name for _, name in self.clip.models(example)]:
            changes |= self.clip.suited(self.standing(changes), example)
        return changes

    def standing(self, changes: Changes) -> Changes:
        """Return widget -> value for all settings: those of the new page, then ``changes``."""
        return {widget: widget.value for widget in self.page.inputs.gathered.widgets} | changes

    def own_clips(
        self, changes: Changes, query: Mapping[str, str], back: restore.Restored | None
    ) -> Changes:
        """Return the changes that show the visitor's uploads again, or drop those that are gone."""
        own = self.clip.shelf_of(back.own) if back and back.own else {}
        if "clip" in query:
            return own
        if back and back.path:
            return own | {self.named["clip"]: back.path}
        # The page chose the photo encoder for an upload that is no longer on the server.
        if changes.get(self.named["model"]) == PHOTOS:
            del changes[self.named["model"]]
        return own

    def misread(self, given: Mapping[str, str], query: Mapping[str, str]) -> Changes:
        """Return the message on parameters ``given`` that are invalid or left out of ``query``."""
        unread, dropped = self.links.unread(query), [name for name in given if name not in query]
        return {self.unread: unread_value(unread, dropped)} if unread or dropped else {}

    def clip_named(self, name: str) -> str | None:
        """Return the path of an example by its name; None for other names."""
        known = (str(example.path) for example in self.page.examples)
        return next((path for path in known if Path(path).name == name), None)

    def kept_clip(self, kept: str) -> str | None:
        """Return the path of a clip that a visitor used before a reload; None if it was deleted.

        ``kept``: folder and file name of the clip, as the browser stored them.
        """
        folder, _, _ = kept.rpartition("/")
        path = Path(get_upload_folder()) / kept
        return str(path) if UPLOADED.fullmatch(folder) and path.is_file() else None

    def example(self, path: str | None) -> Example | None:
        """Return the example at this path; None for other paths."""
        return example_of(self.page.examples, path) or self.page.inputs.example(path)

    def opening_settings(self, linked: Mapping[str, Any]) -> Changes:
        """Return widget values with the link's compressor settings.

        Settings that are not in the link get the values of :attr:`start`, if any.
        """
        if self.start is None:
            return self.controls.put(linked) if linked else {}
        start = given_settings(self.controls, self.start, {})
        before = {key: value for part in self.controls.parts for key, value in start[part].items()}
        ratio = self.start[RATIO]
        compared = {self.named["ratios"]: [ratio]} if ratio in RATIOS else {}
        return start | self.controls.put({**before, **linked}) | compared

    def returned(self, back: restore.Restored, view: View, query: Mapping[str, str]) -> Changes:
        """Show the restored runs, whose ids the browser stored before the reload."""
        outputs, example = self.page.outputs, self.example(back.path)
        # Without an example, drop the question of the first one.
        asked = {} if "question" in query or example else {self.page.inputs.question: ""}
        return asked | {
            outputs.notice: message(back.text),
            outputs.viewer: gr.update(version=0, value=view.value, answers=view.answers),
            outputs.runs: view.runs,
            outputs.ready: ready(example),
            self.named["clip"]: back.path,
            self.kept: view.runs[0],
        }

    def emptied(self, settings: Changes, back: restore.Restored | None) -> Changes:
        """Clear the saved result that the page opens with, unless it fits the page.

        It does not fit if the link has another clip, or if a vLLM server sets the compressor.
        """
        outputs, examples = self.page.outputs, self.page.examples
        clip = settings.get(self.named["clip"]) or (back and back.path)
        notice: Changes = {outputs.notice: message(back.text)} if back and back.text else {}
        empty = outputs.cleared()
        for tab in self.page.tabs:
            empty |= tab.cleared()
        if clip and clip != str(examples[0].path):
            example = self.example(clip)
            question = example.question if example else ""
            shown = {outputs.ready: ready(example), self.page.inputs.question: question}
            return notice | empty | shown
        return empty | {outputs.notice: message()} if self.start else notice
