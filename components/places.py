"""Where the page's own files are: beside this package in a checkout, within it once installed."""

from __future__ import annotations

from pathlib import Path

HERE = Path(__file__).resolve().parent
ASSETS = next(path for path in (HERE / "assets", HERE.parent / "assets") if path.is_dir())
DOCS = ASSETS / "docs"  # the documentation site; only there once `make docs` has built it
ROOT = ASSETS.parent  # the server serves files of the assets alone
