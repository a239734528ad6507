"""The viewer and its data as one HTML file, which needs no server and no network."""

from __future__ import annotations

import json
import re
from base64 import b64encode
from collections.abc import Mapping, Sequence
from html import escape
from string import Template
from typing import Any

from gleanvid.errors import plain

from ..places import ASSETS
from .modules import TEXTS
from .payload import Packed

STYLES = ("style.css", "results.css", "viewer.css")
# A module at a ``data:`` URL has no folder, so its relative imports do not work. They are replaced
# by names that the page's import map lists.
IMPORT = re.compile(r'(from ")\./')


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
        modules=as_json({"imports": _modules()}),
        viewer=(ASSETS / "viewer.html").read_text(encoding="utf-8"),
        extra=extra,
        run=as_json({"value": value, "answers": list(answers)}),
    )


def _modules() -> dict[str, str]:
    """Return each JavaScript module of the viewer by name, as a ``data:`` URL."""
    texts = {name: text.decode() for name, text in TEXTS.items() if name.startswith("viewer/")}
    return {
        name: data_url("text/javascript", IMPORT.sub(r"\1viewer/", text).encode())
        for name, text in texts.items()
    }


def data_url(kind: str, content: bytes) -> str:
    return f"data:{kind};base64,{b64encode(content).decode()}"


def as_json(value: Any) -> str:
    """Return JSON that is safe inside a script element, without characters that hide text."""
    return plain(json.dumps(value, ensure_ascii=False)).replace("<", "\\u003c")
