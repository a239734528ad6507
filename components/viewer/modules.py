"""The page's JavaScript modules, read once, and their addresses.

All addresses change if any module changes. So a browser can cache modules for ever and never mixes
two versions. Gradio runs a component's script as a function, which can import modules but is not
itself a module.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from hashlib import sha256
from typing import Any

from ..places import ASSETS

FOLDERS = ("viewer", "tuning", "results")  # folders in ``assets`` with modules
TEXTS = {
    f"{folder}/{path.name}": path.read_bytes()
    for folder in FOLDERS
    for path in sorted((ASSETS / folder).glob("*.js"))
}
VERSION = sha256(b"\0".join(TEXTS.values())).hexdigest()[:16]


def address(name: str) -> str:
    """Return the address of a module such as ``viewer/mount.js``, relative to the page's root.

    Raises ``KeyError`` for an unknown module.
    """
    if name not in TEXTS:
        raise KeyError(name)
    return f"modules/{VERSION}/{name}"


def mounting(name: str, events: Sequence[str] = (), **fixed: Any) -> str:
    """Return the script of a Gradio component, which calls the function ``mount`` of a module.

    The function gets the objects that Gradio gives a script, and the constants ``fixed``. These are
    not component properties: an update of a hidden component loses properties that it does not set.
    The script names ``events``, as Gradio allows no others.
    """
    scope = "{ element, props, watch, trigger }"
    call = f"gleanvid.load({json.dumps(address(name))}, {scope}, {json.dumps(fixed)});"
    return f"const EVENTS = {json.dumps(events)};\n{call}" if events else call


def early() -> str:
    """Return markup that makes the browser fetch the modules while Gradio still builds the page."""
    names = (name for name in TEXTS if not name.startswith("results/"))
    link = '<link rel="modulepreload" fetchpriority="low" href={}>'
    return "".join(link.format(json.dumps(address(name))) for name in names)
