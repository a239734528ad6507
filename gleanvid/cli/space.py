"""``gleanvid space``: write the folder of a Hugging Face Space, ready to be pushed."""

from __future__ import annotations

import argparse
import json
import shutil
from collections.abc import Iterator, Sequence
from importlib.metadata import requires, version
from importlib.util import find_spec
from pathlib import Path

from packaging.requirements import Requirement

LARGE = ("safetensors", "npz", "bin", "mp4", "jpg")  # Spaces want binary files in Git LFS
EXTRAS = ("video", "models", "tables", "app")
ZERO_GPU = "spaces>=0.50,<1"  # allocates a GPU on ZeroGPU hardware; no effect elsewhere
_LEFT_OUT = shutil.ignore_patterns(
    "__pycache__", "*.pyi", "*.csv", "*.png", "*.webp", "tsconfig.json", "docs"
)

APP = '''"""The GleanVID app as a Space."""

from gleanvid_app.launch import main

if __name__ == "__main__":
    main({arguments})
'''
README = """---
title: {quoted}
sdk: gradio
sdk_version: {gradio}
python_version: "3.11"
app_file: app.py
license: apache-2.0
suggested_hardware: zero-a10g
---

# {title}

See which parts of a video a language model was really shown.
Written by `gleanvid space`, version {version}.
"""


def add(parser: argparse.ArgumentParser, words: Sequence[str]) -> None:
    """Add the command's options to ``parser``; ``words``: the whole command line."""
    parser.add_argument(
        "--out", type=Path, required=True, help="output folder for the Space; must not exist yet"
    )
    parser.add_argument("--title", default="GleanVID", help="title shown on the Hugging Face Space")
    parser.set_defaults(run=_space)


def _space(options: argparse.Namespace) -> int:
    out: Path = options.out
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise ValueError(f"--out={out} exists already: name a new folder")
    if "\n" in options.title:
        raise ValueError("--title must be one line")
    library = Path(__file__).parents[1]
    app = _app(library)
    assets = next(path for path in (app / "assets", app.parent / "assets") if path.is_dir())
    shutil.copytree(library, out / "gleanvid", ignore=_LEFT_OUT)
    shutil.copytree(app, out / "gleanvid_app", ignore=_LEFT_OUT)
    shutil.copytree(assets, out / "gleanvid_app" / "assets", ignore=_LEFT_OUT, dirs_exist_ok=True)
    facts = {"title": options.title, "gradio": version("gradio"), "version": version("gleanvid")}
    facts["quoted"] = json.dumps(options.title, ensure_ascii=False)  # JSON is YAML
    attributes = [f"*.{kind} filter=lfs diff=lfs merge=lfs -text" for kind in LARGE]
    for name, text in (
        ("app.py", APP.format(arguments=_plugins(options.plugin, out))),
        ("README.md", README.format(**facts)),
        ("requirements.txt", "\n".join([*_requirements(), ZERO_GPU, ""])),
        (".gitattributes", "\n".join([*attributes, ""])),
    ):
        (out / name).write_text(text, encoding="utf-8")
    print(
        f"{out} is a Space. Make an empty one of type Gradio on the hub, then\n"
        f"    hf upload OWNER/NAME {out} --repo-type space"
    )
    return 0


def _plugins(files: Sequence[str], out: Path) -> str:
    """Copy the files of ``--plugin`` into the Space, and return the arguments that load them."""
    for name in files:
        if not Path(name).is_file():
            raise ValueError(f"--plugin={name} must be a file to become part of a Space")
        shutil.copy(name, out)
    words = [word for name in files for word in ("--plugin", Path(name).name)]
    return repr(words) if words else ""


def _app(library: Path) -> Path:
    """Return the folder of the app: ``components`` in a checkout, else ``gleanvid_app``."""
    found = find_spec("gleanvid_app")
    installed = (found and found.submodule_search_locations) or []
    for place in (library.parent / "components", *(Path(name) for name in installed)):
        if (place / "launch.py").is_file():
            return place
    raise ValueError("the app is not installed: pip install 'gleanvid[app]'")


def _requirements() -> Iterator[str]:
    """Return the package's requirements that a Space must install, with the app's extras."""
    for text in requires("gleanvid") or []:
        need = Requirement(text)
        there = [{"extra": extra, "platform_machine": "x86_64"} for extra in ("", *EXTRAS)]
        if need.name != "gleanvid" and (not need.marker or any(map(need.marker.evaluate, there))):
            need.marker = None
            yield str(need)
