"""The settings of a run as code that makes it again: Python, command line, curl."""

from __future__ import annotations

import json
import shlex
from typing import Any

from components.session.request import Request
from gleanvid.compressors.base import Compressor, declared_settings

CLIP = "clip.mp4"
LENGTH = 64  # tokens of an answer where nothing is said


def changed(compressor: Compressor) -> dict[str, Any]:
    """The settings that differ from the declared defaults, the retention ratio always."""
    declared = declared_settings(type(compressor))
    return {
        name: getattr(compressor, name)
        for name, (default, _, _) in declared.items()
        if name == "retention_ratio" or getattr(compressor, name) != default
    }


def sampling(request: Request) -> dict[str, Any]:
    """What of the sampling changes the answer and is not the library's default."""
    given = dict(request.sampling)
    drawn = ("temperature", "top_p", "seed") if given.get("temperature") else ()
    length = given.get("max_new_tokens", LENGTH)
    own = {} if length == LENGTH else {"max_new_tokens": length}
    return own | {name: given[name] for name in drawn if name in given}


def python(request: Request, question: str, name: str) -> str:
    compressor = request.compressor()
    own = ", ".join(f"{key}={value!r}" for key, value in changed(compressor).items())
    given = "".join(f"    {key}={value!r},\n" for key, value in sampling(request).items())
    pixels = f"    max_pixels={request.pixels} * len(video),\n" if request.pixels else ""
    return (
        "import gleanvid\n\n"
        f"video = gleanvid.read_video({name!r}, num_frames={request.frames}, max_side=1280)\n"
        f"model = gleanvid.load_model({request.model!r})\n"
        "run = gleanvid.ask(\n"
        f"    video,\n    {question!r},\n    model,\n"
        f"    gleanvid.COMPRESSORS[{compressor.name!r}]({own}),\n{pixels}{given})\n"
        "print(run.answer)\n"
        'run.save("run")\n'
    )


def command(request: Request, question: str, name: str) -> str:
    compressor = request.compressor()
    words = ["gleanvid", "ask", "--model", request.model, "--compressor", compressor.name]
    words += ["--num-frames", str(request.frames)]
    if request.pixels:
        words += ["--max-pixels", str(request.pixels * request.frames)]
    options = {
        key if key == "max_new_tokens" else f"sampling_{key}": value
        for key, value in sampling(request).items()
    }
    for key, value in (changed(compressor) | options).items():
        words += [f"--{key.replace('_', '-')}", str(value)]
    return shlex.join([*words, "--", name, question]) + "\n"  # either may begin with a dash


def curl(request: Request, question: str, name: str, address: str) -> str:
    """Three calls of the page's own API: upload, ask, read the answer."""
    compressor = request.compressor()
    own = {k: v for k, v in changed(compressor).items() if k != "retention_ratio"}
    given = request.sampling
    data = [
        {"path": "PATH", "meta": {"_type": "gradio.FileData"}},
        question,
        compressor.name,
        compressor.retention_ratio,
        request.model,
        request.frames,
        own,
        given.get("seed", 0),
        given.get("temperature", 0.0),
        given.get("max_new_tokens", LENGTH),
        given.get("top_p", 1.0),
        request.pixels,
    ]
    body = json.dumps({"data": data}, ensure_ascii=False)
    first, last = body.split("PATH", 1)
    return (
        f"ROOT={shlex.quote(address)}\n"
        f"CLIP=$(curl -sF {shlex.quote('files=@' + name)} $ROOT/gradio_api/upload "
        "| sed 's/[][\"]//g')\n"
        "EVENT=$(curl -s $ROOT/gradio_api/call/ask -H 'Content-Type: application/json' \\\n"
        f'  -d {shlex.quote(first)}"$CLIP"{shlex.quote(last)} | cut -d\'"\' -f4)\n'
        "curl -N $ROOT/gradio_api/call/ask/$EVENT\n"
    )
