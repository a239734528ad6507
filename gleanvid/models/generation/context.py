"""The limit on prompt length: longer prompts are refused before the model runs."""

from __future__ import annotations

import math
from dataclasses import dataclass

from gleanvid.compressors.base import Compressor
from gleanvid.types import ModelError


@dataclass(frozen=True)
class Context:
    """The context length of a model, and how its positions count.

    Kept tokens keep their positions. Where those count every token (1-D), compression does not
    bring a prompt back into the context; multimodal positions grow with rows, columns and seconds
    alone, so there only the tokens that are left count (``counts_kept``).
    """

    model: str  # its name
    limit: int | None  # in tokens; None if the checkpoint does not state one
    num_layers: int
    counts_kept: bool


def check_context(
    context: Context, tokens: int, visual: int, compressor: Compressor | None
) -> None:
    """Raise ``ModelError`` if ``tokens``, ``visual`` of them visual, exceed the context."""
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
    """Return the fraction of the visual tokens that enters layer 0."""
    if compressor is None:
        return 1.0
    stages = dict(compressor.at_depth(num_layers).stages)
    return stages[0].retention_ratio if 0 in stages else 1.0


def checked_max_pixels(value: int | None) -> int | None:
    """Return the value; raise ``ValueError`` if it is not a positive integer."""
    if value is None or (isinstance(value, int) and not isinstance(value, bool) and value > 0):
        return value
    raise ValueError(f"max_pixels={value!r} must be a whole number of at least 1, or None")
