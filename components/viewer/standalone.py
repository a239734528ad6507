"""The viewer and its data as one HTML file, which needs no server and no network."""

from __future__ import annotations

import json
from base64 import b64encode
from collections.abc import Mapping, Sequence
from html import escape
from string import Template
from typing import Any

from gleanvid.errors import plain

from ..places import ASSETS
from .modules import TEXTS, joined
from .payload import Packed

STYLES = ("style.css", "results.css", "viewer.css")


def page(
    packed: Packed | None,
    answers: Sequence[Mapping[str, Any]],
    title: str,
    about: str,
    silent: bool = False,
    extra: str = "",
) -> str:
    """Return the HTML text of the offline viewer.

    Args:
        packed: content of the viewer; None: ``extra`` sets it.
        answers: answers of the runs; see `components.tokens.answers.answer`.
        title: the question or the name of the clip; it is escaped.
        about: a line below the title; it is escaped.
        silent: whether the model is an encoder, which answers no questions.
        extra: HTML above the viewer. Its script may define ``window.mounted(show)``; a call of
            ``show({value, answers})`` changes the viewer.
    """
    value = None
    if packed is not None:
        data = data_url("application/octet-stream", packed.data)
        files = {"sheet": {"url": data_url("image/jpeg", packed.sheet)}, "data": {"url": data}}
        value = {**packed.value, **files}
    template = Template((ASSETS / "take_away.html").read_text(encoding="utf-8"))
    return template.substitute(
        title=escape(plain(title)),
        about=escape(plain(about)),
        silent=" data-silent" if silent else "",
        style="".join((ASSETS / name).read_text(encoding="utf-8") for name in STYLES),
        modules=joined(name for name in TEXTS if name.startswith("viewer/")),
        viewer=(ASSETS / "viewer.html").read_text(encoding="utf-8"),
        extra=extra,
        run=as_json({"value": value, "answers": list(answers)}),
    )


def data_url(kind: str, content: bytes) -> str:
    return f"data:{kind};base64,{b64encode(content).decode()}"


def as_json(value: Any) -> str:
    """Return JSON that is safe inside a script element, without characters that hide text."""
    return plain(json.dumps(value, ensure_ascii=False)).replace("<", "\\u003c")
