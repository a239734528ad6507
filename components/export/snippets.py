"""Write code that repeats a run with its settings: in Python, as a command or with curl."""

from __future__ import annotations

import json
import shlex
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from gleanvid.cli import options as shared
from gleanvid.compressors.base import Compressor, declared_settings
from gleanvid.compressors.by_hand import ByHand
from gleanvid.models.loading.precision import PRECISIONS, split_precision
from gleanvid.plugins import origin

CLIP = "clip.mp4"
WHOLE = "# {what} reads whole clips; use the Python code for a time span.\n"
LENGTH = 64  # default of the option ``max_new_tokens``


@dataclass(frozen=True)
class Recipe:
    """One question with all its settings, for which code is written.

    ``pixels``: maximum number of pixels per frame; 0 for the model's own limit.
    """

    clip: str  # file name of the clip
    question: str
    model: str
    frames: int
    compressor: Compressor
    pixels: int = 0
    sampling: Mapping[str, Any] = field(default_factory=dict)
    asks: bool = True  # False if the model answers no questions: the code only compresses
    # Start and end of the time span in seconds; None for the start or end of the clip.
    span: tuple[float | None, float | None] = (None, None)

    @property
    def times(self) -> dict[str, float]:
        pairs = zip(("start", "end"), self.span, strict=True)
        return {name: second for name, second in pairs if second is not None}


def changed(compressor: Compressor) -> dict[str, Any]:
    """Return the compressor settings that differ from the defaults, and the retention ratio."""
    declared = declared_settings(type(compressor))
    return {
        name: getattr(compressor, name)
        for name, (default, _, _) in declared.items()
        if name == "retention_ratio" or getattr(compressor, name) != default
    }


def plugin_of(compressor: Compressor) -> str:
    """Return the name of the plug-in file that defines the method; "" for built-in methods."""
    return Path(origin(type(compressor))).name


def sampling(recipe: Recipe) -> dict[str, Any]:
    """Return the generation options that must be given to repeat the answer.

    The answer length is left out if it is the library's default; temperature, top-p and seed are
    left out at temperature 0.
    """
    given = dict(recipe.sampling)
    drawn = ("temperature", "top_p", "seed") if given.get("temperature") else ()
    length = given.get("max_new_tokens", LENGTH)
    own = {} if length == LENGTH else {"max_new_tokens": length}
    return own | {name: given[name] for name in drawn if name in given}


def python(recipe: Recipe) -> str:
    compressor = recipe.compressor
    own = ", ".join(f"{key}={value!r}" for key, value in changed(compressor).items())
    method = f"gleanvid.COMPRESSORS[{compressor.name!r}]({own})"
    if isinstance(compressor, ByHand):
        method = f"gleanvid.by_hand({compressor.keep!r})"
    drawing = ", ".join(f"{key}={value!r}" for key, value in sampling(recipe).items())
    settings = f"    sampling=gleanvid.Sampling({drawing}),\n"
    if recipe.pixels:
        settings += f"    frames=gleanvid.Frames(max_pixels={recipe.pixels} * len(video)),\n"
    name, precision = split_precision(recipe.model)
    plugin = plugin_of(compressor)
    own_file = f"gleanvid.register({plugin!r})\n" if plugin else ""
    how = "".join(f", {key}={value!r}" for key, value in PRECISIONS[precision].items())
    times = "".join(f", {key}={value!r}" for key, value in recipe.times.items())
    opening = (
        f"import gleanvid\n\n{own_file}"
        f"video = gleanvid.read_video({recipe.clip!r}, num_frames={recipe.frames}, max_side=1280"
        f"{times})\n"
        f"model = gleanvid.load_model({name!r}{how})\n"
    )
    if not recipe.asks:
        pixels = f", max_pixels={recipe.pixels} * len(video)" if recipe.pixels else ""
        return (
            f"{opening}tokens = model.encode(video{pixels}).tokens\n"
            f"record = {method}.compress(tokens)\n"
            "print(record.budgets.tolist())\n"
        )
    return (
        f"{opening}run = gleanvid.ask(\n"
        f"    video,\n    {recipe.question!r},\n    model,\n    {method},\n{settings})\n"
        "print(run.answer)\n"
        'run.save("run")\n'
    )


def command(recipe: Recipe) -> str:
    compressor = recipe.compressor
    name, precision = split_precision(recipe.model)
    if recipe.times and not recipe.asks:
        return WHOLE.format(what="gleanvid compress")
    verb = "ask" if recipe.asks else "compress"
    own, method = changed(compressor), compressor.name
    if isinstance(compressor, ByHand):
        own, method = {}, f"{method}(keep={compressor.keep})"
    # names that are also those of sampling: in brackets, where they can mean one thing alone
    if both := [f"{key}={own[key]}" for key in shared.SAMPLING if key in own]:
        method = f"{method}({', '.join(both)})"
        own = {key: value for key, value in own.items() if key not in shared.SAMPLING}
    words = ["gleanvid", verb, "--model", name, "--compressor", method]
    words += [word for key, value in PRECISIONS[precision].items() for word in (f"--{key}", value)]
    words += ["--plugin", plugin_of(compressor)] if plugin_of(compressor) else []
    words += ["--num-frames", str(recipe.frames)]
    for option, key in (("--from", "start"), ("--to", "end")):
        words += [option, f"{recipe.times[key]:g}"] if key in recipe.times else []
    if recipe.pixels:
        words += ["--max-pixels", str(recipe.pixels * recipe.frames)]
    options = {
        key if key == "max_new_tokens" else f"sampling_{key}": value
        for key, value in (sampling(recipe) if recipe.asks else {"out": "tokens"}).items()
    }
    for key, value in (own | options).items():
        words += [f"--{key.replace('_', '-')}", str(value)]
    # "--" ends the options, because a file name or a question may begin with a dash.
    words += ["--", recipe.clip]
    words += [recipe.question] if recipe.asks else []
    return shlex.join(words) + "\n"


def curl(recipe: Recipe, address: str) -> str:
    """Return three calls of the app's API: upload the clip, ask or compress, read the result.

    Settings that have their default are left out.
    """
    if recipe.times:
        return WHOLE.format(what="The API")
    compressor = recipe.compressor
    own = {k: v for k, v in changed(compressor).items() if k != "retention_ratio"}
    optional: dict[str, Any] = {"settings": own}
    if recipe.asks:
        optional |= {"question": recipe.question, "pixels": recipe.pixels} | sampling(recipe)
    arguments = {
        "video": {"path": "PATH", "meta": {"_type": "gradio.FileData"}},
        "compressor": compressor.name,
        "retention_ratio": compressor.retention_ratio,
        "model": recipe.model,
        "frames": recipe.frames,
    } | {name: value for name, value in optional.items() if value}
    body = json.dumps(arguments, ensure_ascii=False)
    first, last = body.split("PATH", 1)
    call = f"$ROOT/gradio_api/call/v2/{'ask' if recipe.asks else 'compress'}"
    return (
        f"ROOT={shlex.quote(address)}\n"
        f"CLIP=$(curl -sF {shlex.quote('files=@' + recipe.clip)} $ROOT/gradio_api/upload "
        "| sed 's/[][\"]//g')\n"
        f"EVENT=$(curl -s {call} -H 'Content-Type: application/json' \\\n"
        f'  -d {shlex.quote(first)}"$CLIP"{shlex.quote(last)} | cut -d\'"\' -f4)\n'
        f"curl -N {call}/$EVENT\n"
    )
