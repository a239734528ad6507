"""The settings of a run as code that makes it again: Python, command line, curl."""

from __future__ import annotations

import json
import shlex
from typing import Any

from components.actions import Request
from gleanvid.compressors.base import Compressor, declared_settings

CLIP = "clip.mp4"


def changed(compressor: Compressor) -> dict[str, Any]:
    """The settings that differ from the declared defaults, the retention ratio always."""
    declared = declared_settings(type(compressor))
    return {
        name: getattr(compressor, name)
        for name, (default, _, _) in declared.items()
        if name == "retention_ratio" or getattr(compressor, name) != default
    }


def python(request: Request, question: str, name: str) -> str:
    compressor = request.compressor()
    own = ", ".join(f"{key}={value!r}" for key, value in changed(compressor).items())
    usual = {"seed": 0, "temperature": 0, "top_p": 1, "max_new_tokens": 64}
    options = {key: value for key, value in request.sampling.items() if value != usual[key]}
    given = "".join(f"    {key}={value!r},\n" for key, value in options.items())
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
    words = ["gleanvid", "ask", name, question, "--model", request.model]
    words += ["--num-frames", str(request.frames), "--compressor", compressor.name]
    words += ["--max-new-tokens", str(request.sampling.get("max_new_tokens", 64))]
    if request.pixels:
        words += ["--max-pixels", str(request.pixels * request.frames)]
    for key, value in changed(compressor).items():
        words += [f"--{key.replace('_', '-')}", str(value)]
    return shlex.join(words) + "\n"


def curl(request: Request, question: str, name: str, address: str) -> str:
    """Three calls of the page's own API: upload, ask, read the answer."""
    compressor = request.compressor()
    own = {k: v for k, v in changed(compressor).items() if k != "retention_ratio"}
    sampling = request.sampling
    data = [
        {"path": "PATH", "meta": {"_type": "gradio.FileData"}},
        question,
        compressor.name,
        compressor.retention_ratio,
        request.model,
        request.frames,
        own,
        sampling.get("seed", 0),
        sampling.get("temperature", 0.0),
        sampling.get("max_new_tokens", 64),
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
