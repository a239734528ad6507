"""Every setting in the address of the page, and back; a link is checked like any input.

The results of a tab that is loaded again come back too: its browser keeps their ids.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import gradio as gr

from gleanvid.compressors import COMPRESSORS

from ..session import restore
from ..session.comparing import RATIOS
from ..session.display import message, status
from ..session.engine import Engine
from ..session.examples import Example, example_of, ready
from ..session.request import AUTO, LONGEST, RATIO
from ..session.sides import View
from .clip import holding
from .controls import Controls, chosen_method, given_settings
from .curves import Curves
from .shared import AT_ONCE, UNSEEN, Changes, Previews, Shared

COPY = """async () => {
  await new Promise((done) => setTimeout(done, 400));  // what was set last is in the address then
  try {
    await navigator.clipboard.writeText(location.href);
  } catch {  // only pages served by https or from this computer may copy by themselves
    prompt("Copy this link", location.href);
  }
  return window.gvHasOwnClip() ? "Copied, without your clip" : "Link copied";
}"""
RENAME = (
    """() => new Promise((done) => setTimeout(() => done("Copy link to these settings"), 2000))"""
)
TAB = "() => window.gvTab()"
KEPT = "() => { window.gvDefaults(SETTINGS); return window.gvKept(); }"
OPEN = """(kept, clip) => {
  if (kept) (HOLDS)(clip);  // the viewer may tell of a clip that is not the page's
  window.gvOpenLink(kept, IS_START);
}"""
WRITE = "(value) => window.gvLink(NAME, value, DEFAULT)"
_CURRENT_NAMES = {  # of a setting that had another name when the link was copied
    f"{name}.{before}": f"{name}.{now}"
    for name, method in COMPRESSORS.items()
    for before, now in method.renamed.items()
}


class LinkWidgets(NamedTuple):
    named: Mapping[str, Any]  # every widget by its key in a link
    gathered: Sequence[Any]  # those that tell the page of a change with all others; see ``Packed``
    start: Mapping[str, Any] | None = None  # a compressor's settings, where not the opening's


def button() -> gr.Button:
    """Copies the address of the page, which holds every setting."""
    copy = gr.Button("Copy link to these settings", size="sm", elem_id="gv-copy")
    copy.click(None, None, copy, js=COPY, api_visibility="private").then(
        None, None, copy, js=RENAME, api_visibility="private"
    )
    return copy


def writer(name: str, usual: Any) -> str:
    """Script: the value of a widget into the address (see ``assets/page/address.js``)."""
    script = WRITE.replace("NAME", json.dumps(name))
    return script.replace("DEFAULT", json.dumps(usual, default=str))


def defaults_script(packed: Sequence[Any], named: Mapping[str, Any]) -> str:
    """The script that tells the page key and default of every packed widget; null: not in links."""
    names = {widget: name for name, widget in named.items()}
    usual = [[names.get(widget), widget.value] for widget in packed]
    return KEPT.replace("SETTINGS", json.dumps(usual, default=str))


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
        if (model := named["model"]) in changes:  # loaded since this server started, maybe
            changes[model] = gr.update(value=changes[model], choices=list(model.choices))
        back, first = restore.restored(engine, text), None
        if back is not None:
            changes[shared.notice] = message(back.text)
        if back is not None and back.view is not None:
            first = back.view.runs[0]
            changes |= returned(shared, back.view) | {named["clip"]: back.path, kept: first}
            changes[shared.ready] = ready(example_of(examples, back.path))
        elif (path := changes.get(named["clip"])) and path != str(examples[0].path):
            # the opening result is of another clip
            changes |= shared.cleared() | curves.cleared()
            changes[shared.ready] = ready(example_of(examples, path))
        elif linked.start:  # or of other settings
            changes |= shared.cleared() | curves.cleared() | {shared.notice: message()}
        if (tab := query.get("tab", "")) in titles:
            changes |= {shared.tabs: gr.update(selected=tab)}
        return changes | {shared.status: status(engine, engine.runs.get(first))}

    kept = gr.Textbox(visible=False)
    widgets = [*named.values(), *(column for _, column in controls.groups), *curves.shown]
    places = [shared.notice, shared.ready, shared.tabs, shared.status]
    outputs = [kept, *places, *widgets, *shared.results]
    script = defaults_script(shared.packed.widgets, named)
    loaded = blocks.load(on_load, kept, outputs, js=script, **AT_ONCE)
    opened = OPEN.replace("HOLDS", holding(example.path for example in examples))
    opened = opened.replace("IS_START", json.dumps(linked.start is not None))
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


def link_changes(
    query: Mapping[str, str],
    named: Mapping[str, Any],
    examples: Sequence[Example],
    controls: Controls,
) -> Changes:
    """What a link sets, with the settings of its compressor shown."""
    values = valid(query, named, examples)
    changes = {named[name]: value for name, value in values.items()}
    changes |= switched(values, controls)
    method = query.get("compressor", "")
    if method in COMPRESSORS:
        given = {"value": changes[controls.ratio]} if controls.ratio in changes else {}
        changes |= chosen_method(controls, method)
        changes[controls.ratio] = changes[controls.ratio] | given
    return changes


def switched(values: Mapping[str, Any], controls: Controls) -> Changes:
    """A setting that a link has a value for is not left to None, and its slider is seen."""
    changes: Changes = {}
    for key, switch in controls.switches.items():
        name = ".".join(key)
        off = not values.get(f"{name}.{AUTO}", True)
        if off or (name in values and f"{name}.{AUTO}" not in values):
            value = {"value": values[name]} if name in values else {}
            changes |= {switch: False, controls.fields[key]: gr.update(visible=True, **value)}
    return changes


def valid(
    query: Mapping[str, str], named: Mapping[str, Any], examples: Sequence[Example]
) -> dict[str, Any]:
    """By key: what a link says that a widget could say, too."""
    query = {_CURRENT_NAMES.get(name, name): text for name, text in query.items()}
    clips = {example.path.name: str(example.path) for example in examples}
    found = {}
    for name, widget in named.items():
        text = str(query.get(name, ""))
        value = clips.get(text) if name == "clip" else _value(widget, text) if text else None
        if value is not None:
            found[name] = value
    return found


def _value(widget: Any, text: str) -> Any:
    """The text of a link as a value of this widget; None where it is none."""
    if isinstance(widget, gr.Dropdown):
        return next((value for _, value in widget.choices if str(value) == text), None)
    if isinstance(widget, gr.CheckboxGroup):
        wanted = text.split(",")
        return [value for _, value in widget.choices if str(value) in wanted] or None
    if isinstance(widget, gr.Checkbox):
        return {"true": True, "false": False}.get(text.lower())
    if isinstance(widget, gr.Slider | gr.Number):
        return _number(widget, text)
    return text[:LONGEST]


def _number(widget: Any, text: str) -> float | int | None:
    try:
        number = float(text)
    except ValueError:
        return None
    low = -float("inf") if widget.minimum is None else widget.minimum
    high = float("inf") if widget.maximum is None else widget.maximum
    if not low <= number <= high:
        return None
    return int(number) if number == int(number) else number
