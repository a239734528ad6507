"""The viewer with everything it shows in one HTML file, which needs no server and no network."""

from __future__ import annotations

import json
import re
from base64 import b64encode
from collections.abc import Mapping, Sequence
from html import escape
from string import Template
from typing import Any

from ..places import ASSETS
from .modules import TEXTS
from .payload import Packed

STYLES = ("style.css", "results.css", "viewer.css")
# Modules at data: addresses have no folder, so they name each other by their keys in an import map.
IMPORT = re.compile(r'(from ")\./')


def page(packed: Packed, answers: Sequence[Mapping[str, Any]], title: str, about: str) -> str:
    """Return the text of the file.

    Args:
        packed: what the viewer shows.
        answers: under its sides; see `components.session.answers.answer`.
        title: the question or the name of the clip, any text.
        about: a line below the title, any text.
    """
    files = {
        "sheet": {"url": _data_url("image/jpeg", packed.sheet)},
        "data": {"url": _data_url("application/octet-stream", packed.data)},
    }
    template = Template((ASSETS / "take_away.html").read_text(encoding="utf-8"))
    return template.substitute(
        title=escape(title),
        about=escape(about),
        style="".join((ASSETS / name).read_text(encoding="utf-8") for name in STYLES),
        modules=_json({"imports": _modules()}),
        viewer=(ASSETS / "viewer.html").read_text(encoding="utf-8"),
        run=_json({"value": {**packed.value, **files}, "answers": list(answers)}),
    )


def _modules() -> dict[str, str]:
    """The modules of the viewer at data: addresses, by name."""
    texts = {name: text.decode() for name, text in TEXTS.items() if name.startswith("viewer/")}
    return {
        name: _data_url("text/javascript", IMPORT.sub(r"\1viewer/", text).encode())
        for name, text in texts.items()
    }


def _data_url(kind: str, content: bytes) -> str:
    return f"data:{kind};base64,{b64encode(content).decode()}"


def _json(value: Any) -> str:
    """JSON that cannot end the script that holds it."""
    return json.dumps(value, ensure_ascii=False).replace("<", "\\u003c")
