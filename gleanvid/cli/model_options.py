"""Options that choose a model, and the model and the video that they name."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from functools import partial
from typing import Any

from gleanvid.errors import printable

LOADING = {  # keyword of load_model -> its type
    "device": str,
    "dtype": str,
    "attn_implementation": str,
    "device_map": str,
    "quantization": str,
    "max_pixels": int,
}


def add_model(parser: argparse.ArgumentParser) -> None:
    """Add the options that choose a model and how it is loaded."""
    add = parser.add_argument_group("model").add_argument
    add(
        "--model",
        default="builtin",
        help="model to load: builtin, a Hugging Face id, a local directory, or running servers as "
        "vllm:http://host:port[,http:...]",
    )
    add("--device", help="device of the model: cpu, cuda, cuda:1 ... (default: cuda if available)")
    add("--dtype", help="number format of the weights: float32, bfloat16 or float16")
    add(
        "--attn-implementation",
        help="attention implementation of transformers: sdpa, eager or flash_attention_2",
    )
    add("--device-map", help="auto spreads the model over all devices; replaces --device")
    add("--quantization", help="quantize the weights to 8bit or 4bit (needs bitsandbytes)")
    add("--max-pixels", type=int, help="maximum number of pixels of all sampled frames together")
    add(
        "--model-setting",
        metavar="NAME=VALUE",
        action="append",
        default=[],
        help="setting of the model family, e.g. spatial_pool_mode=average for LLaVA-Video; can be "
        "repeated",
    )


def load(options: argparse.Namespace) -> Any:
    """Load the model chosen by the options of :func:`add_model`. Raises ``ModelError``."""
    return loader(options)()


def loader(options: argparse.Namespace) -> Callable[[], Any]:
    """Return a function that loads the model and can be sent to another process (picklable)."""
    from gleanvid.models import load_model
    from gleanvid.serving.vllm import SCHEME

    if options.model.startswith(SCHEME):
        from gleanvid.serving.vllm.remote import load_own

        return partial(load_own, options.model, **loading(options))
    return partial(load_model, options.model, **loading(options))


def loading(options: argparse.Namespace) -> dict[str, Any]:
    """Return arguments of ``load_model``, except the name, from options of :func:`add_model`."""
    given = {name: getattr(options, name) for name in LOADING}
    return given | {"settings": model_settings(options)}


def model_settings(options: argparse.Namespace) -> dict[str, str | bool]:
    """Return the values of ``--model-setting`` by name."""
    return dict(_setting(text) for text in options.model_setting)


def _setting(text: str) -> tuple[str, str | bool]:
    name, _, value = text.partition("=")
    return name, {"true": True, "false": False}.get(value.lower(), value)


def read_and_load(options: argparse.Namespace) -> tuple[Any, Any, float]:
    """Return the video, the model, and the seconds that reading the file took."""
    from gleanvid.api.arguments import Frames, check_questions, timed_clip

    check_questions(options.question)  # before the model is loaded, which takes minutes
    span = {"start": options.from_s, "end": options.to_s}
    frames = Frames(options.num_frames, backend=options.backend, **span)
    video, decode_s = timed_clip(options.video, frames)
    for note in video.notes:
        sys.stderr.write(f"note: {printable(note)}\n")
    return video, load(options), decode_s
