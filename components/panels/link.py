"""Every setting in the address of the page, and back; a link is checked like any input."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

import gradio as gr

from components.panels.clip import Example
from components.panels.settings import LONGEST
from gleanvid.compressors import COMPRESSORS

LOADED = "Settings as in the link. Press Ask to run them."
COPY = """async () => {
  await new Promise((done) => setTimeout(done, 400));  // what was set last is in the address then
  try {
    await navigator.clipboard.writeText(location.href);
  } catch {  // only pages served by https or from this computer may copy by themselves
    prompt("Copy this link", location.href);
  }
  return "Link copied";
}"""
RENAME = (
    """() => new Promise((done) => setTimeout(() => done("Copy link to these settings"), 2000))"""
)
TAB = "() => window.gvTab()"
KEPT = "() => window.gvKept()"
WRITE = "(value) => window.gvLink(NAME, value, DEFAULT)"
_CURRENT_NAMES = {  # of a setting that had another name when the link was copied
    f"{name}.{before}": f"{name}.{now}"
    for name, method in COMPRESSORS.items()
    for before, now in method.renamed.items()
}
CLIP = """(value) => {
  const path = value?.path ?? value?.video?.path ?? "";
  window.gvLink(NAME, CLIPS.find((clip) => path.endsWith(clip)) ?? "", "");
}"""


def button() -> gr.Button:
    """Copies the address of the page, which holds every setting."""
    copy = gr.Button("Copy link to these settings", size="sm", elem_id="gv-copy")
    copy.click(None, None, copy, js=COPY, api_visibility="private").then(
        None, None, copy, js=RENAME, api_visibility="private"
    )
    return copy


def writer(name: str, widget: Any, examples: Sequence[Example]) -> str:
    """The script that puts the value of this widget into the address (see ``assets/page.js``)."""
    words: dict[str, Any] = {"NAME": name}
    if name == "clip":
        script, words["CLIPS"] = CLIP, [example.path.name for example in examples]
    else:
        script, words["DEFAULT"] = WRITE, widget.value
    for word, value in words.items():
        script = script.replace(word, json.dumps(value, default=str))
    return script


def restored(
    query: Mapping[str, str], named: Mapping[str, Any], examples: Sequence[Example]
) -> list[Any]:
    """A value for every widget the link has a valid one for; the others are skipped."""
    query = {_CURRENT_NAMES.get(name, name): text for name, text in query.items()}
    clips = {example.path.name: str(example.path) for example in examples}
    found = []
    for name, widget in named.items():
        text = str(query.get(name, ""))
        if name == "clip":
            found.append(clips.get(text, gr.skip()))
        else:
            found.append(_value(widget, text) if text else gr.skip())
    return found


def _value(widget: Any, text: str) -> Any:
    """The text of a link as a value of this widget; skipped where it is none."""
    if isinstance(widget, gr.Dropdown):
        found = [value for _, value in widget.choices if str(value) == text]
        return found[0] if found else gr.skip()
    if isinstance(widget, gr.CheckboxGroup):
        wanted = text.split(",")
        found = [value for _, value in widget.choices if str(value) in wanted]
        return found or gr.skip()
    if isinstance(widget, gr.Checkbox):
        return {"true": True, "false": False}.get(text.lower(), gr.skip())
    if isinstance(widget, gr.Slider | gr.Number):
        return _number(widget, text)
    return text[:LONGEST]


def _number(widget: Any, text: str) -> Any:
    try:
        number = float(text)
    except ValueError:
        return gr.skip()
    low = -float("inf") if widget.minimum is None else widget.minimum
    high = float("inf") if widget.maximum is None else widget.maximum
    if not low <= number <= high:
        return gr.skip()
    return int(number) if number == int(number) else number
