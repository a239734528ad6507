"""The page's ES modules, read once, at addresses that change with the content of any of them.

So a browser can cache them for ever, and never mixes two versions. Gradio runs a component's script
as a function, which can import modules but is none.
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
    """Address of a module such as ``viewer/mount.js`` below the page's root.

    Raises ``KeyError`` for an unknown module.
    """
    if name not in TEXTS:
        raise KeyError(name)
    return f"modules/{VERSION}/{name}"


def mounting(name: str, events: Sequence[str] = (), **fixed: Any) -> str:
    """Script that calls a module's ``mount`` with what Gradio gives the script, and ``fixed``.

    Gradio looks for the names of ``events`` in it. Constants are passed here, not as properties of
    the component: Gradio forgets properties of a hidden component when an event does not change it.
    """
    scope = "{ element, props, watch, trigger }"
    call = f"gleanvid.load({json.dumps(address(name))}, {scope}, {json.dumps(fixed)});"
    return f"const EVENTS = {json.dumps(events)};\n{call}" if events else call


def early() -> str:
    """Markup that lets the browser fetch the modules while Gradio still builds the page."""
    names = (name for name in TEXTS if not name.startswith("results/"))
    link = '<link rel="modulepreload" fetchpriority="low" href={}>'
    return "".join(link.format(json.dumps(address(name))) for name in names)
