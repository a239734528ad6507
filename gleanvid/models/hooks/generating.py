"""generate() of a model inside a block: what it refuses, and what its cache may hold."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from gleanvid.models.hooks.arguments import have_pixels
from gleanvid.models.hooks.decoding import cached_length, passed_cache
from gleanvid.models.hooks.shortening import PromptHook
from gleanvid.models.hooks.turns import prompt_in, remember, restored

REFUSED = {  # options of generate() that break compression -> the decoding method that each selects
    "prefill_chunk_size": "chunked prefill",
    "prompt_lookup_num_tokens": "prompt-lookup decoding",
    "assistant_model": "assisted decoding",
    "assistant_early_exit": "assisted decoding",
}


@contextmanager
def watched_generate(hf_model: Any, hook: PromptHook) -> Iterator[None]:
    """Make generate() refuse unsupported options, and store its arguments in ``hook``.

    The hook may have to read the token grids from these arguments: transformers 5.23 encodes the
    video before the model's forward pass and does not pass the grids on.
    """
    original = hf_model.generate
    had_own = "generate" in vars(hf_model)

    def generate(*args: Any, **kwargs: Any) -> Any:
        ids = kwargs.get("input_ids", kwargs.get("inputs", args[0] if args else None))
        given = kwargs | {"input_ids": ids}
        stated = (kwargs, kwargs.get("generation_config"), *args[1:2], hf_model.generation_config)
        _refuse(*stated)
        if _frames_would_mix(hf_model, given):
            newer = "use a newer one (5.23 is known to work)"
            _refuse_repeats(f"mixes up the frames of repeated prompts; {newer}", *stated)
        if _frames_would_be_lost(hf_model, given):
            _refuse_repeats("loses the frames of repeated prompts", *stated)
        hook.saw_pixels |= have_pixels(kwargs)
        hook.generate_inputs = given
        try:
            return _generate(original, args, kwargs, ids)
        finally:
            hook.generate_inputs = {}

    @functools.wraps(original)
    def one_at_a_time(*args: Any, **kwargs: Any) -> Any:
        with hook.lock:
            return generate(*args, **kwargs)

    hf_model.generate = one_at_a_time
    try:
        yield
    finally:
        if had_own:
            hf_model.generate = original
        else:
            del hf_model.generate


def _generate(original: Any, args: tuple[Any, ...], kwargs: dict[str, Any], ids: Any) -> Any:
    """Call ``original``, transformers' generate(), whose cache may hold a compressed prompt."""
    cache = passed_cache(kwargs)
    # a cache that was reset for another prompt still has the plan of the one before
    prompt = prompt_in(cache) if cached_length(cache) else None
    if prompt is None:
        return original(*args, **kwargs)
    if have_pixels(kwargs):
        raise ValueError(
            "pixels came with a cache that holds a video: pass a later turn without pixels and "
            "grids, and a new video without the cache"
        )
    prompt = prompt.of_rows(kwargs, ids)
    remember(cache, prompt)
    shorter = prompt.shortened({n: v for n, v in kwargs.items() if n != "inputs"}, ids)
    if ids is None or shorter.get("input_ids") is kwargs.get("input_ids"):
        return original(*args, **(kwargs | shorter))
    return restored(original(None, *args[1:], **shorter), ids, shorter["input_ids"].shape[1])


def _refuse(*settings: Any) -> None:
    for name, method in REFUSED.items():
        for source in settings:
            if _value(source, name) is not None:
                raise ValueError(f"{name}: {method} does not work with compression")


def _frames_would_mix(hf_model: Any, inputs: Mapping[str, Any]) -> bool:
    """Return whether generate() would mix up frames of prompts repeated for beams or answers.

    If frames are passed as images [F, C, H, W], transformers 5.17 repeats every image right after
    itself, so that videos mix, even without compression. Later versions encode the frames first.
    """
    pixels, ids = inputs.get("pixel_values"), inputs.get("input_ids")
    if pixels is None or ids is None or pixels.ndim != 4 or len(pixels) == len(ids):
        return False
    return "mm_encoder_outputs" not in inspect.signature(hf_model.forward).parameters


def _frames_would_be_lost(hf_model: Any, inputs: Mapping[str, Any]) -> bool:
    """Return whether generate() would lose the video of prompts repeated for beams or answers.

    transformers 5.23 then looks for video placeholders, but GLM-4V's prompts have those of images.
    """
    ids, token = inputs.get("input_ids"), getattr(hf_model.config, "video_token_id", None)
    if token is None or ids is None or inputs.get("pixel_values_videos") is None:
        return False
    return hasattr(hf_model, "_expand_multimodal_outputs") and not bool((ids == token).any())


def _refuse_repeats(what: str, *settings: Any) -> None:
    for name in ("num_beams", "num_return_sequences"):
        value = next((v for source in settings if (v := _value(source, name)) is not None), 1)
        if value > 1:
            raise ValueError(f"{name}={value}: for this model, this version of transformers {what}")


def _value(source: Any, name: str) -> Any:
    return source.get(name) if isinstance(source, dict) else getattr(source, name, None)
