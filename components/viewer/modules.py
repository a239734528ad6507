"""The page's ES modules: read once, at addresses that change with what any of them says.

So a browser keeps them for good, and none is older than those that import it. Gradio runs a
component's script as a function: it can import modules, but cannot be one.
"""

from __future__ import annotations

import json
from hashlib import sha256
from typing import Any

from ..places import ASSETS

FOLDERS = ("viewer", "tuning", "results")  # of the assets
TEXTS = {
    f"{folder}/{path.name}": path.read_bytes()
    for folder in FOLDERS
    for path in sorted((ASSETS / folder).glob("*.js"))
}
VERSION = sha256(b"\0".join(TEXTS.values())).hexdigest()[:16]


def address(name: str) -> str:
    """Where the browser gets a module such as ``viewer/mount.js``, below the page's root.

    Raises ``KeyError`` where there is none of this name.
    """
    TEXTS[name]
    return f"modules/{VERSION}/{name}"


def script(name: str) -> str:
    """JavaScript: the address of a module as the browser sees it, behind a proxy too."""
    return f'`${{window.gradio_config?.root ?? ""}}/{address(name)}`'


def mounting(name: str, **fixed: Any) -> str:
    """What mounts a module: its ``mount`` gets what Gradio gives the script, and what is ``fixed``.

    What never changes is no property of the component: Gradio forgets those of one that is
    hidden when an event leaves it as it is.
    """
    return f"""
import({script(name)}).then(
  (module) => module.mount({{ element, props, watch, ...{json.dumps(fixed)} }}),
  (error) => console.error(error),
);
"""


def early() -> str:
    """Markup that has what stands in sight fetched while Gradio still builds the page."""
    names = (name for name in TEXTS if not name.startswith("results/"))
    link = '<link rel="modulepreload" fetchpriority="low" href={}>'
    return "".join(link.format(json.dumps(address(name))) for name in names)
