"""Every setting in the address of the page, and back; a link is checked like any input.

The results of a tab that is loaded again come back too: its browser keeps their ids.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import gradio as gr

from ..session.actions import restore
from ..session.actions.plans import RATIOS
from ..session.actions.preview import View
from ..session.display import message, status
from ..session.examples import Example, example_of, ready
from ..session.request import RATIO
from ..session.work.engine import Engine
from .clip import shortened
from .controls import Controls, given_settings
from .curves import Curves
from .query import Links, unread_value
from .shared import AT_ONCE, UNSEEN, Changes, Previews, Shared

COPY = """async () => {
  await new Promise((done) => setTimeout(done, 400));  // what was set last is in the address then
  try {
    await navigator.clipboard.writeText(location.href);
  } catch {  // only pages served by https or from this computer may copy by themselves
    prompt("Copy this link", location.href);
  }
  const noClip = "Copied: settings and question. Your clip is not in it.";
  return window.gvHasOwnClip() ? noClip : "Link copied";
}"""
RENAME = (
    """() => new Promise((done) => setTimeout(() => done("Copy link to these settings"), 4000))"""
)
TAB = "() => window.gvTab()"
KEPT = "() => { window.gvDefaults(PACKED, DEFAULTS, FOLDED, EXAMPLES); return window.gvKept(); }"
OPEN = """(kept, clip) => {
  if (kept) window.gvClip(clip?.path);  // the viewer may tell of a clip that is not the page's
  window.gvOpenLink(kept, IS_START);
}"""
WRITE = "(value) => window.gvLink(NAME, value)"
UNREAD_HTML = """<p class="gv-unread" role="status" hidden><span></span>
<button type="button" class="gv-plain">Dismiss</button></p>"""
UNREAD_JS = """
const line = element.querySelector(".gv-unread"), [words, close] = line.children;
const show = () => {
  const { text = "", names = [] } = props.value || {};
  words.textContent = text;
  line.hidden = !text;
  for (const name of names) window.gvAddress(name, "");
};
close.addEventListener("click", () => { line.hidden = true; });
watch("value", show);
show();
"""


class LinkWidgets(NamedTuple):
    named: Mapping[str, Any]  # every widget by its key in a link
    gathered: Sequence[Any]  # those that tell the page of a change with all others; see ``Packed``
    folded: Sequence[str]  # keys of those that are not in sight
    unread: gr.HTML  # the widget of :func:`line`
    start: Mapping[str, Any] | None = None  # a compressor's settings, where not the opening's


def button() -> gr.Button:
    """Copies the address of the page, which holds every setting."""
    copy = gr.Button("Copy link to these settings", size="sm", elem_id="gv-copy")
    copy.click(None, None, copy, js=COPY, api_visibility="private").then(
        None, None, copy, js=RENAME, api_visibility="private"
    )
    return copy


def line() -> gr.HTML:
    """Says what of a link was not understood."""
    return gr.HTML(
        None,
        apply_default_css=False,
        html_template=UNREAD_HTML,
        js_on_load=UNREAD_JS,
        elem_id="gv-unread",
    )


def defaults_script(
    packed: Sequence[Any], linked: LinkWidgets, controls: Controls, examples: Sequence[Example]
) -> str:
    """The script that tells the page its examples, and names and defaults of its settings.

    The name of a packed widget is empty where it holds several settings by name, and null where a
    link does not have it.
    """
    names = {widget: name for name, widget in linked.named.items()} | dict.fromkeys(
        controls.parts, ""
    )
    defaults = {name: widget.value for name, widget in linked.named.items()} | controls.defaults
    texts = {
        "PACKED": [names.get(widget) for widget in packed],
        "DEFAULTS": defaults,
        "FOLDED": [*linked.folded, *controls.folded],
        "EXAMPLES": [shortened(example.path) for example in examples],
    }
    script = KEPT
    for word, value in texts.items():
        script = script.replace(word, json.dumps(value, default=str))
    return script


@dataclass(frozen=True)
class Opened:
    """What a page shows as it is loaded: its link, and results that its browser kept."""

    engine: Engine
    shared: Shared
    linked: LinkWidgets
    controls: Controls
    curves: Curves
    links: Links
    kept: gr.Textbox  # what the browser kept; afterwards, which run came of it

    def on_load(self, user: gr.Request, text: str | None) -> Changes:
        query, named, links = dict(user.query_params), self.linked.named, self.links
        changes = started(self.linked, self.controls, links.settings(query))
        changes |= {named[name]: value for name, value in links.valid(query).items()}
        menu = named["model"]
        model = changes.get(menu, menu.value)
        if menu in changes:  # loaded since this server started, maybe
            changes[menu] = gr.update(value=model, choices=list(menu.choices))
        back, first = restore.restored(self.engine, text, model), None
        if back is not None and back.view is not None:
            first = back.view.runs[0]
            changes |= self.returned(back, back.view) | {self.kept: first}
        else:
            changes = self.emptied(changes.get(named["clip"]), back) | changes
        if (tab := query.get("tab", "")) in links.tabs:
            changes |= {self.shared.tabs: gr.update(selected=tab)}
        found, replaced = links.unread(query), links.replaced(query)
        if found or replaced:
            changes[self.linked.unread] = unread_value(found, replaced)
        return changes | {self.shared.status: status(self.engine, self.engine.runs.get(first))}

    def returned(self, back: restore.Restored, view: View) -> Changes:
        """What the browser kept."""
        shared, examples = self.shared, self.links.examples
        return {
            shared.notice: message(back.text),
            shared.viewer: gr.update(turn=0, value=view.value, answers=view.answers),
            shared.runs: view.runs,
            shared.ready: ready(example_of(examples, back.path)),
            self.linked.named["clip"]: back.path,
        }

    def emptied(self, clip: str | None, back: restore.Restored | None) -> Changes:
        """Nothing, where the opening result is of another clip or of other settings."""
        shared, examples = self.shared, self.links.examples
        said: Changes = {} if back is None else {shared.notice: message(back.text)}
        empty = shared.cleared() | self.curves.cleared()
        if clip and clip != str(examples[0].path):
            example = example_of(examples, clip)
            question = example.question if example else ""
            return said | empty | {shared.ready: ready(example), shared.question: question}
        return empty | {shared.notice: message()} if self.linked.start else said


def wire(
    engine: Engine,
    shared: Shared,
    linked: LinkWidgets,
    controls: Controls,
    curves: Curves,
    examples: Sequence[Example],
    blocks: gr.Blocks,
    preview: Previews,
) -> Any:
    """The event that shows what a link says.

    Gradio searches all events for every widget as the page opens, so most settings have none for
    the address alone.
    """
    named = linked.named
    for name, widget in named.items():
        if isinstance(widget, gr.Slider):
            widget.elem_id = f"gv-of-{name}"  # by which the arrow beside it finds its default
        if name != "clip" and widget not in linked.gathered:  # uploads say nothing of changes
            widget.change(None, widget, None, js=WRITE.replace("NAME", json.dumps(name)), **UNSEEN)
    shared.tabs.select(None, None, None, js=TAB, **UNSEEN)
    titles = [str(tab.id) for tab in shared.tabs.children if isinstance(tab, gr.Tab)]
    links, kept = Links(named, controls.own, examples, titles), gr.Textbox(visible=False)
    opened = Opened(engine, shared, linked, controls, curves, links, kept)
    widgets = [*named.values(), *controls.parts, *curves.shown]
    places = [linked.unread, shared.notice, shared.ready, shared.tabs, shared.status]
    script = defaults_script(shared.packed.widgets, linked, controls, examples)
    outputs = [kept, *places, *widgets, *shared.results]
    loaded = blocks.load(opened.on_load, kept, outputs, js=script, **AT_ONCE)
    shows = OPEN.replace("IS_START", json.dumps(linked.start is not None))
    loaded.then(None, [kept, named["clip"]], None, js=shows, **UNSEEN)
    shared.packed.gathered(loaded.then)
    refresh = gr.Button("Show", visible="hidden", elem_id="gv-refresh")
    return preview(refresh.click)


def started(linked: LinkWidgets, controls: Controls, said: Mapping[str, Any]) -> Changes:
    """The methods' settings: what a link said, else those that the page opens with."""
    if linked.start is None:
        return controls.put(said) if said else {}
    start = given_settings(controls, linked.start, {})
    stood = {key: value for part in controls.parts for key, value in start[part].items()}
    ratio = linked.start[RATIO]
    compared = {linked.named["ratios"]: [ratio]} if ratio in RATIOS else {}
    return start | controls.put({**stood, **said}) | compared
