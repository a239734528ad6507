"""How much a model may be given: prompts longer than it reads are refused before it runs."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from gleanvid.compressors.base import Chain, Compressor
from gleanvid.types import ModelError

if TYPE_CHECKING:
    from gleanvid.models.base import ModelAdapter


def check_context(
    model: ModelAdapter, tokens: int, visual: int, compressor: Compressor | Chain | None
) -> None:
    """Raises ``ModelError`` where ``tokens``, of them ``visual`` ones, are too many.

    Kept tokens keep their positions. Where those count every token (1-D), compression does not
    bring a prompt back into the context; multimodal positions grow with rows, columns and seconds
    alone, so there only the tokens that are left count.
    """
    limit = getattr(model.text_config, "max_position_embeddings", None)
    if limit is None:
        return
    read, advice = tokens, "use fewer frames or a lower max_pixels"
    if hasattr(model.layout.core, "get_rope_index"):
        read = tokens - visual + math.ceil(share_ahead(model, compressor) * visual)
        advice += ", or a lower retention_ratio"
    if read > limit:
        raise ModelError(
            f"{model.name} reads at most {limit} tokens and this video makes the prompt {read} "
            f"long: {advice}."
        )


def share_ahead(model: ModelAdapter, compressor: Compressor | Chain | None) -> float:
    """Share of the visual tokens that enters layer 0."""
    if compressor is None:
        return 1.0
    stages = dict(compressor.at_depth(model.text_config.num_hidden_layers).stages)
    return stages[0].retention_ratio if 0 in stages else 1.0


def checked_max_pixels(value: int | None) -> int | None:
    """The value itself. Raises ``ValueError`` where it is no positive whole number."""
    if value is None or (isinstance(value, int) and not isinstance(value, bool) and value > 0):
        return value
    raise ValueError(f"max_pixels={value!r} must be a whole number of at least 1, or None")
