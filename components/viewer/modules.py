"""The page's ES modules, read once, at addresses that change with the content of any module.

A browser can therefore cache the modules for ever and never mixes two versions. Gradio runs a
component's script as a function, which can import modules but is not itself a module.
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
    """Return a script that calls a module's ``mount`` with Gradio's arguments and ``fixed``.

    The script contains the names of ``events``, because Gradio searches it for them. Constants are
    in ``fixed``, not in properties of the component: Gradio forgets properties of a hidden
    component that an event does not change.
    """
    scope = "{ element, props, watch, trigger }"
    call = f"gleanvid.load({json.dumps(address(name))}, {scope}, {json.dumps(fixed)});"
    return f"const EVENTS = {json.dumps(events)};\n{call}" if events else call


def early() -> str:
    """Return markup that makes the browser fetch the modules while Gradio still builds the page."""
    names = (name for name in TEXTS if not name.startswith("results/"))
    link = '<link rel="modulepreload" fetchpriority="low" href={}>'
    return "".join(link.format(json.dumps(address(name))) for name in names)
