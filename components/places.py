"""Paths of the page's own files: next to this package in a checkout, inside it once installed."""

from __future__ import annotations

import os
from pathlib import Path

HERE = Path(__file__).resolve().parent
ASSETS = next(path for path in (HERE / "assets", HERE.parent / "assets") if path.is_dir())
DOCS = ASSETS / "docs"  # the documentation site; only there once `make docs` has built it
ROOT = ASSETS.parent
LINK = "assets"  # symbolic link to the assets, made in the folder of visitors' files


def as_served(path: Path) -> Path:
    """Return the path under which the server serves a file of the assets.

    Gradio sends the paths of files to visitors. The returned path goes through a symbolic link, so
    it does not reveal where the app is installed. Where no link can be made (Windows requires a
    privilege), the path is returned unchanged.
    """
    link = Path(os.environ.get("GRADIO_TEMP_DIR", ""), LINK)
    is_linked = link.is_symlink() and path.is_relative_to(ASSETS)
    return link / path.relative_to(ASSETS) if is_linked else path
