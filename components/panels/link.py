"""Every setting in the address of the page, and back; a link is checked like any input.

The results of a tab that is loaded again come back too: its browser keeps their ids.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import gradio as gr

from ..session import restore
from ..session.display import message, status
from ..session.engine import Engine
from ..session.examples import Example, example_of, ready
from ..session.plans import RATIOS
from ..session.request import RATIO
from ..session.sides import View
from .clip import shortened
from .controls import Controls, given_settings
from .curves import Curves
from .query import link_changes, unread, unread_value
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
KEPT = "() => { window.gvDefaults(SETTINGS, EXAMPLES); return window.gvKept(); }"
OPEN = """(kept, clip) => {
  if (kept) window.gvClip(clip?.path);  // the viewer may tell of a clip that is not the page's
  window.gvOpenLink(kept, IS_START);
}"""
WRITE = "(value) => window.gvLink(NAME, value, DEFAULT)"
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


def writer(name: str, default: Any) -> str:
    """Script: the value of a widget into the address (see ``assets/page/address.js``)."""
    script = WRITE.replace("NAME", json.dumps(name))
    return script.replace("DEFAULT", json.dumps(default, default=str))


def defaults_script(
    packed: Sequence[Any], named: Mapping[str, Any], examples: Sequence[Example]
) -> str:
    """The script that tells the page its examples, and key and default of every packed widget.

    The key is null where a link does not have the widget.
    """
    names = {widget: name for name, widget in named.items()}
    defaults = [[names.get(widget), widget.value] for widget in packed]
    paths = [shortened(example.path) for example in examples]
    script = KEPT.replace("SETTINGS", json.dumps(defaults, default=str))
    return script.replace("EXAMPLES", json.dumps(paths))


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
            widget.change(None, widget, None, js=writer(name, widget.value), **UNSEEN)
    shared.tabs.select(None, None, None, js=TAB, **UNSEEN)
    titles = [str(tab.id) for tab in shared.tabs.children if isinstance(tab, gr.Tab)]

    def on_load(user: gr.Request, text: str | None) -> Changes:
        query = dict(user.query_params)
        changes = started(linked, controls) | link_changes(query, named, examples, controls)
        menu = named["model"]
        model = changes.get(menu, menu.value)
        if menu in changes:  # loaded since this server started, maybe
            changes[menu] = gr.update(value=model, choices=list(menu.choices))
        back, first = restore.restored(engine, text, model), None
        if back is not None:
            changes[shared.notice] = message(back.text)
        if back is not None and back.view is not None:
            first = back.view.runs[0]
            changes |= returned(shared, back.view) | {named["clip"]: back.path, kept: first}
            changes[shared.ready] = ready(example_of(examples, back.path))
        elif (path := changes.get(named["clip"])) and path != str(examples[0].path):
            # the opening result is of another clip
            changes |= shared.cleared() | curves.cleared()
            example = example_of(examples, path)
            changes[shared.ready] = ready(example)
            changes.setdefault(shared.question, example.question if example else "")
        elif linked.start:  # or of other settings
            changes |= shared.cleared() | curves.cleared() | {shared.notice: message()}
        if (tab := query.get("tab", "")) in titles:
            changes |= {shared.tabs: gr.update(selected=tab)}
        if found := unread(query, named, examples, titles):
            changes[linked.unread] = unread_value(found)
        return changes | {shared.status: status(engine, engine.runs.get(first))}

    kept = gr.Textbox(visible=False)
    widgets = [*named.values(), *(column for _, column in controls.groups), *curves.shown]
    places = [linked.unread, shared.notice, shared.ready, shared.tabs, shared.status]
    outputs = [kept, *places, *widgets, *shared.results]
    script = defaults_script(shared.packed.widgets, named, examples)
    loaded = blocks.load(on_load, kept, outputs, js=script, **AT_ONCE)
    opened = OPEN.replace("IS_START", json.dumps(linked.start is not None))
    loaded.then(None, [kept, named["clip"]], None, js=opened, **UNSEEN)
    shared.packed.gathered(loaded.then)
    refresh = gr.Button("Show", visible="hidden", elem_id="gv-refresh")
    return preview(refresh.click)


def started(linked: LinkWidgets, controls: Controls) -> Changes:
    """The settings that the page opens with, where they are not those of its opening result."""
    if linked.start is None:
        return {}
    ratio = linked.start[RATIO]
    compared = {linked.named["ratios"]: [ratio]} if ratio in RATIOS else {}
    return given_settings(controls, linked.start) | compared


def returned(shared: Shared, view: View) -> Changes:
    viewer = gr.update(turn=0, value=view.value, answers=view.answers)
    return {shared.viewer: viewer, shared.runs: view.runs}
