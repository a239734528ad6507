"""The page's JavaScript modules, joined into one script, which a browser asks for once.

Its address changes if any module changes. So a browser can cache it for ever. Gradio runs a
component's script as a function, which can import the script but is not itself a module.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from graphlib import TopologicalSorter
from hashlib import sha256
from posixpath import dirname, join, normpath
from typing import Any

from ..places import ASSETS

FOLDERS = ("viewer", "tuning", "results")  # folders in ``assets`` with modules
TEXTS = {
    f"{folder}/{path.name}": path.read_text(encoding="utf-8")
    for folder in FOLDERS
    for path in sorted((ASSETS / folder).glob("*.js"))
}
_IMPORT = re.compile(r'^import (\{[^}]*\}) from "(.+)";$', re.MULTILINE)
_EXPORT = re.compile(r"^export ((?:async )?(?:class|const|function) (\w+))", re.MULTILINE)


def joined(names: Iterable[str]) -> str:
    """Return modules as one, which exports ``parts``: the exports of each module by its name.

    ``names``: such as ``viewer/mount.js``, with all that these import. Modules have only the forms
    ``import { a, b } from "./c.js";`` and ``export class | const | function``, and no circles:
    ``graphlib.CycleError``.
    """
    order = TopologicalSorter({name: _imported(name) for name in names}).static_order()
    return "const parts = {};\n" + "".join(map(_part, order)) + "export { parts };\n"


def _imported(name: str) -> list[str]:
    return [_seen_from(name, other) for _, other in _IMPORT.findall(TEXTS[name])]


def _seen_from(name: str, other: str) -> str:
    return normpath(join(dirname(name), other))


def _part(name: str) -> str:
    """Return the text of a module as a function that is called once and returns its exports."""

    def taken(found: re.Match[str]) -> str:
        return f"const {found[1]} = parts[{json.dumps(_seen_from(name, found[2]))}];"

    text = _IMPORT.sub(taken, TEXTS[name])
    own = ", ".join(export for _, export in _EXPORT.findall(text))
    text = _EXPORT.sub(r"\1", text)
    return f"parts[{json.dumps(name)}] = (() => {{\n{text}\nreturn {{ {own} }};\n}})();\n"


SCRIPT = joined(TEXTS)
ADDRESS = f"modules/{sha256(SCRIPT.encode()).hexdigest()[:16]}.js"  # relative to the page's root


def mounting(name: str, events: Sequence[str] = (), **fixed: Any) -> str:
    """Return the script of a Gradio component, which calls the function ``mount`` of a module.

    The function gets the objects that Gradio gives a script, and the constants ``fixed``. These are
    not component properties: an update of a hidden component loses properties that it does not set.
    The script names ``events``, as Gradio allows no others.
    """
    scope = "{ element, props, watch, trigger }"
    call = f"gleanvid.load({json.dumps(name)}, {scope}, {json.dumps(fixed)});"
    return f"const EVENTS = {json.dumps(events)};\n{call}" if events else call


def early() -> str:
    """Return markup that makes the browser fetch the script while Gradio still builds the page."""
    link = f'<link rel="modulepreload" fetchpriority="low" href={json.dumps(ADDRESS)}>'
    return f"{link}<script>window.gleanvid.script = {json.dumps(ADDRESS)};</script>"
