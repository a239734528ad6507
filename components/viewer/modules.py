"""The viewer's ES modules, which the browser gets from a folder of files."""

from __future__ import annotations

from ..places import ASSETS

MODULES = ASSETS / "viewer"
ENTRY = "mount.js"


def modules() -> list[str]:
    """Names of the files, the entry first."""
    return sorted((path.name for path in MODULES.glob("*.js")), key=lambda name: name != ENTRY)


def early() -> str:
    """Header ``Link`` of the page: the browser gets the modules while Gradio's own code starts."""
    place = f"gradio_api/file={MODULES.as_posix()}"
    return ", ".join(f"<{place}/{name}>; rel=modulepreload" for name in modules())
