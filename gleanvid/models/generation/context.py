"""Refuse prompts that are longer than the model's context, before the model runs."""

from __future__ import annotations

import math
from dataclasses import dataclass

from gleanvid.compressors.base import Compressor
from gleanvid.types import ModelError


@dataclass(frozen=True)
class Context:
    """The context length of a model, and whether dropped tokens count towards it.

    Kept tokens keep their positions. If positions count every token (1-D), a prompt that is too
    long stays too long after compression. Multimodal positions (time, row, column) grow much more
    slowly. For models that have them, only kept tokens count (``counts_kept``).
    """

    model: str  # name of the model
    limit: int | None  # in tokens; None if the checkpoint states no limit
    num_layers: int
    counts_kept: bool


def check_context(
    context: Context, tokens: int, visual: int, compressor: Compressor | None
) -> None:
    """Raise ``ModelError`` if a prompt is too long for the context.

    ``tokens``: its length before compression; ``visual``: how many of these are visual tokens.
    """
    if context.limit is None:
        return
    read, advice = tokens, "use fewer frames or a lower max_pixels"
    if context.counts_kept:
        read = (
            tokens - visual + math.ceil(entering_fraction(compressor, context.num_layers) * visual)
        )
        advice += ", or a lower retention_ratio"
    if read > context.limit:
        raise ModelError(
            f"{context.model} reads at most {context.limit} tokens and this video makes the prompt "
            f"{read} long: {advice}."
        )


def entering_fraction(compressor: Compressor | None, num_layers: int) -> float:
    """Return the fraction of the visual tokens that is kept before layer 0."""
    if compressor is None:
        return 1.0
    stages = dict(compressor.at_depth(num_layers).stages)
    return stages[0].retention_ratio if 0 in stages else 1.0


def checked_max_pixels(value: int | None) -> int | None:
    """Return the value; raise ``ValueError`` if it is not a positive integer."""
    if value is None or (isinstance(value, int) and not isinstance(value, bool) and value > 0):
        return value
    raise ValueError(f"max_pixels={value!r} must be a whole number of at least 1, or None")
