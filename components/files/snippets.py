"""The settings of a run as code that makes it again: Python, command line, curl."""

from __future__ import annotations

import json
import shlex
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from gleanvid.compressors.base import Compressor, declared_settings
from gleanvid.models.loading.precision import parted

CLIP = "clip.mp4"
LENGTH = 64  # tokens of an answer where nothing is said


@dataclass(frozen=True)
class Recipe:
    """One question with all its settings. ``pixels`` of a frame; 0: the model's own limit."""

    clip: str  # name of the file
    question: str
    model: str
    frames: int
    compressor: Compressor
    pixels: int = 0
    sampling: Mapping[str, Any] = field(default_factory=dict)


def changed(compressor: Compressor) -> dict[str, Any]:
    """The settings that differ from the declared defaults, the retention ratio always."""
    declared = declared_settings(type(compressor))
    return {
        name: getattr(compressor, name)
        for name, (default, _, _) in declared.items()
        if name == "retention_ratio" or getattr(compressor, name) != default
    }


def sampling(recipe: Recipe) -> dict[str, Any]:
    """What of the sampling changes the answer and is not the library's default."""
    given = dict(recipe.sampling)
    drawn = ("temperature", "top_p", "seed") if given.get("temperature") else ()
    length = given.get("max_new_tokens", LENGTH)
    own = {} if length == LENGTH else {"max_new_tokens": length}
    return own | {name: given[name] for name in drawn if name in given}


def python(recipe: Recipe) -> str:
    compressor = recipe.compressor
    own = ", ".join(f"{key}={value!r}" for key, value in changed(compressor).items())
    drawing = ", ".join(f"{key}={value!r}" for key, value in sampling(recipe).items())
    settings = f"    sampling=gleanvid.Sampling({drawing}),\n"
    if recipe.pixels:
        settings += f"    frames=gleanvid.Frames(max_pixels={recipe.pixels} * len(video)),\n"
    name, loading = parted(recipe.model)
    how = "".join(f", {key}={value!r}" for key, value in loading.items())
    return (
        "import gleanvid\n\n"
        f"video = gleanvid.read_video({recipe.clip!r}, num_frames={recipe.frames}, max_side=1280)\n"
        f"model = gleanvid.load_model({name!r}{how})\n"
        "run = gleanvid.ask(\n"
        f"    video,\n    {recipe.question!r},\n    model,\n"
        f"    gleanvid.COMPRESSORS[{compressor.name!r}]({own}),\n{settings})\n"
        "print(run.answer)\n"
        'run.save("run")\n'
    )


def command(recipe: Recipe) -> str:
    compressor = recipe.compressor
    name, loading = parted(recipe.model)
    words = ["gleanvid", "ask", "--model", name, "--compressor", compressor.name]
    words += [word for key, value in loading.items() for word in (f"--{key}", value)]
    words += ["--num-frames", str(recipe.frames)]
    if recipe.pixels:
        words += ["--max-pixels", str(recipe.pixels * recipe.frames)]
    options = {
        key if key == "max_new_tokens" else f"sampling_{key}": value
        for key, value in sampling(recipe).items()
    }
    for key, value in (changed(compressor) | options).items():
        words += [f"--{key.replace('_', '-')}", str(value)]
    return (
        shlex.join([*words, "--", recipe.clip, recipe.question]) + "\n"
    )  # either may begin with a dash


def curl(recipe: Recipe, address: str) -> str:
    """Three calls of the page's own API: upload, ask, read the answer.

    Arguments go by their names; those that would say the default are left out.
    """
    compressor = recipe.compressor
    own = {k: v for k, v in changed(compressor).items() if k != "retention_ratio"}
    optional = {"settings": own, "pixels": recipe.pixels} | sampling(recipe)
    arguments = {
        "video": {"path": "PATH", "meta": {"_type": "gradio.FileData"}},
        "question": recipe.question,
        "compressor": compressor.name,
        "retention_ratio": compressor.retention_ratio,
        "model": recipe.model,
        "frames": recipe.frames,
    } | {name: value for name, value in optional.items() if value}
    body = json.dumps(arguments, ensure_ascii=False)
    first, last = body.split("PATH", 1)
    return (
        f"ROOT={shlex.quote(address)}\n"
        f"CLIP=$(curl -sF {shlex.quote('files=@' + recipe.clip)} $ROOT/gradio_api/upload "
        "| sed 's/[][\"]//g')\n"
        "EVENT=$(curl -s $ROOT/gradio_api/call/v2/ask -H 'Content-Type: application/json' \\\n"
        f'  -d {shlex.quote(first)}"$CLIP"{shlex.quote(last)} | cut -d\'"\' -f4)\n'
        "curl -N $ROOT/gradio_api/call/v2/ask/$EVENT\n"
    )
