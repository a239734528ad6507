"""The cost of a run, and the facts needed to repeat it (versions, device, sampling)."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from gleanvid.models.cost.flops import prefill_flops
from gleanvid.models.encoded import Answer, Encoded
from gleanvid.run import Cost, visual_tokens_by_layer


@cache
def versions() -> dict[str, str]:
    """Versions of the packages that an answer depends on."""
    found = {}
    for name in ("gleanvid", "torch", "transformers"):
        with suppress(PackageNotFoundError):  # a source tree that was not installed
            found[name] = version(name)
    return found


def made_with(
    hf_model: Any, sampling: Mapping[str, Any], max_pixels: int | None, earlier_turns: int
) -> dict[str, Any]:
    """What it takes to make a run again, ready for JSON; ``max_pixels`` bounds all frames."""
    return {
        "versions": versions(),
        "device": str(hf_model.device),
        "dtype": str(hf_model.dtype),
        **sampling,
        "max_pixels": max_pixels,
        "earlier_turns": earlier_turns,
    }


def cost_of(
    answer: Answer, encoded: Encoded, text_config: Any, decode_s: float, encode_s: float
) -> Cost:
    """What an answer took; ``encode_s`` is 0.0 where the clip was encoded before."""
    config = text_config
    total = len(encoded.tokens)
    layers = visual_tokens_by_layer(answer.by_layer, total, config.num_hidden_layers)
    text = answer.prompt_tokens - total
    return Cost(
        visual_tokens=total,
        visual_tokens_kept=layers[0],
        prompt_tokens=answer.prompt_tokens,
        prompt_tokens_kept=answer.prompt_tokens_kept,
        decode_s=decode_s,
        encode_s=encode_s,
        compress_s=answer.compress_s,
        prefill_s=answer.prefill_s,
        generate_s=answer.generate_s,
        new_tokens=answer.new_tokens,
        peak_memory_mib=answer.peak_memory_mib,
        prefill_flops=sum(prefill_flops(config, text + n) for n in layers) / len(layers),
        prefill_flops_full=prefill_flops(config, answer.prompt_tokens),
        visual_tokens_by_layer=layers,
    )
