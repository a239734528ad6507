"""Links: writes every setting to the address of the page, and reads and checks a link's settings.

A reloaded tab also gets its results back, because its browser keeps their ids.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import gradio as gr

from ..session.actions import restore
from ..session.actions.plans import RATIOS
from ..session.actions.preview import View
from ..session.display import message, status
from ..session.examples import example_of, ready
from ..session.request import RATIO, can_answer
from ..session.work.local import PHOTOS
from .clip import ClipPanel, shortened
from .controls import given_settings
from .events import AT_ONCE, PRIVATE, Changes, part, script
from .panel import Page, Panel
from .query import Links, unread_value
from .settings import SettingsPanel

COPY = "Copy link to these settings"
UNREAD = """<p class="gv-unread" role="status" hidden><span></span>
<button type="button" class="gv-plain">Dismiss</button></p>"""


def copy_button() -> gr.Button:
    """Make the button that copies the address of the page, which holds every setting."""
    copy = gr.Button(COPY, size="sm", elem_id="gv-copy")
    copied = copy.click(None, None, copy, js=script("copyLink"), api_visibility="private")
    copied.then(None, None, copy, js=script("afterCopy", COPY), api_visibility="private")
    return copy


class LinkPanel(Panel):
    """Reads the link as the page opens, and names its parameters that are unknown or invalid.

    ``start``: compressor settings that the page opens with, if they differ from the defaults.
    """

    def __init__(self, start: Mapping[str, Any] | None, clip: ClipPanel) -> None:
        self.start, self.clip = start, clip
        self.unread = part("unread", UNREAD, None, elem_id="gv-unread")

    def connect_to(self, page: Page, settings: SettingsPanel, named: Mapping[str, Any]) -> None:
        """Bind the events. ``named``: every widget by its key in a link."""
        self.page, self.controls, self.named = page, settings.controls, named
        titles = [tab.title for tab in page.tabs]
        self.links = Links(named, self.controls.own, page.examples, titles)
        self.write_changes(settings)
        page.outputs.tabs.select(None, None, None, js=script("openedTab"), **PRIVATE)
        outputs = page.outputs
        self.kept = gr.Textbox(
            visible=False
        )  # as input what the browser kept, as output the restored run
        lines = [self.unread, outputs.notice, outputs.ready, outputs.tabs, outputs.status]
        others = [widget for tab in page.tabs for widget in tab.cleared()]
        widgets = [*named.values(), *self.controls.parts, *others, *outputs.results]
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
        """Bind the widgets that write their own values to the address.

        Gradio searches all events for every widget as the page opens, so most settings have none:
        the script that gathers all values writes them (``assets/page/settings.js``).
        """
        gathered = settings.moved()
        for key, widget in self.named.items():
            if isinstance(widget, gr.Slider):
                widget.elem_id = f"gv-of-{key}"  # the reset arrow finds its default by this id
            if key != "clip" and widget not in gathered:  # uploads report no changes
                widget.change(None, widget, None, js=script("writeSetting", key), **PRIVATE)

    def opening_script(self, settings: SettingsPanel) -> str:
        """Return the script that gets the examples, and the keys and defaults of the settings."""
        keys = {widget: key for key, widget in self.named.items()}
        keys |= dict.fromkeys(self.controls.parts, "")  # each holds several settings by key
        defaults = {key: widget.value for key, widget in self.named.items()}
        return script(
            "openSettings",
            [keys.get(widget) for widget in self.page.inputs.gathered.widgets],
            defaults | self.controls.defaults,
            settings.folded(),
            [shortened(example.path) for example in self.page.examples],
            [name for _, name in self.named["model"].choices if not can_answer(name)],
        )

    def on_load(self, user: gr.Request, text: str | None) -> Changes:
        """Apply the settings of the link, and restore results that the browser kept."""
        query, named, links = dict(user.query_params), self.named, self.links
        engine, outputs = self.page.engine, self.page.outputs
        changes = self.opening_settings(links.settings(query))
        changes |= {named[key]: value for key, value in links.valid(query).items()}
        menu, example = named["model"], example_of(self.page.examples, changes.get(named["clip"]))
        standing = {widget: widget.value for widget in self.page.inputs.gathered.widgets} | changes
        if example and "model" not in query:
            suited = self.clip.suited(standing, example)
            changes, standing = changes | suited, standing | suited
        back, first = restore.restored(engine, text, changes.get(menu, menu.value)), None
        is_gone = "clip" not in query and (back is None or back.path is None)
        if (
            is_gone and changes.get(menu) == PHOTOS
        ):  # the photo encoder was chosen for a clip that is gone
            del changes[menu]
        if menu in changes:  # loaded since this server started, maybe
            changes[menu] = gr.update(value=changes[menu], choices=list(menu.choices))
        if back is not None and back.view is not None:
            first = back.view.runs[0]
            changes |= self.returned(back, back.view) | {self.kept: first}
        else:
            changes = self.emptied(changes.get(named["clip"]), back) | changes
            saved = self.clip.made_before(example, standing) if example else {}
            if saved:
                first = saved[outputs.runs][0]
                del saved[self.clip.is_unknown]
                changes |= saved | {self.kept: first}
        if (tab := query.get("tab", "")) in links.tabs:
            changes |= {outputs.tabs: gr.update(selected=tab)}
        unread, replaced = links.unread(query), links.replaced(query)
        if unread or replaced:
            changes[self.unread] = unread_value(unread, replaced)
        return changes | {outputs.status: status(engine, engine.runs.get(first))}

    def opening_settings(self, linked: Mapping[str, Any]) -> Changes:
        """Return the methods' settings: those of the link, else those that the page opens with."""
        if self.start is None:
            return self.controls.put(linked) if linked else {}
        start = given_settings(self.controls, self.start, {})
        before = {key: value for part in self.controls.parts for key, value in start[part].items()}
        ratio = self.start[RATIO]
        compared = {self.named["ratios"]: [ratio]} if ratio in RATIOS else {}
        return start | self.controls.put({**before, **linked}) | compared

    def returned(self, back: restore.Restored, view: View) -> Changes:
        """Show the runs whose ids the browser kept."""
        outputs = self.page.outputs
        return {
            outputs.notice: message(back.text),
            outputs.viewer: gr.update(version=0, value=view.value, answers=view.answers),
            outputs.runs: view.runs,
            outputs.ready: ready(example_of(self.page.examples, back.path)),
            self.named["clip"]: back.path,
        }

    def emptied(self, clip: str | None, back: restore.Restored | None) -> Changes:
        """Clear the opening result if the link has another clip or other settings."""
        outputs, examples = self.page.outputs, self.page.examples
        notice: Changes = {} if back is None else {outputs.notice: message(back.text)}
        empty = outputs.cleared()
        for tab in self.page.tabs:
            empty |= tab.cleared()
        if clip and clip != str(examples[0].path):
            example = example_of(examples, clip)
            question = example.question if example else ""
            shown = {outputs.ready: ready(example), self.page.inputs.question: question}
            return notice | empty | shown
        return empty | {outputs.notice: message()} if self.start else notice
