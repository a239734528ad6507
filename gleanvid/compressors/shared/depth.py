"""Compression stages inside a language model: their layers, and how many tokens they keep."""

from __future__ import annotations

import math

# the papers chose the layers of their stages on models with 28 to 36 layers
_SHALLOW, _DEEP = 28, 36


def scale_layer(layer: int, num_layers: int, chosen_on: int = _SHALLOW) -> int:
    """Return the layer at the same relative depth in a model of ``num_layers`` layers.

    ``layer`` was chosen on a model of ``chosen_on`` layers. Any ``chosen_on`` from 28 to 36, as in
    the papers, counts as the number in this range that is nearest to ``num_layers``, so models of
    28 to 36 layers use ``layer`` unchanged. Layer 0 (before the model) stays 0; any other result is
    between 1 and the last layer.
    """
    if layer == 0 or num_layers == chosen_on:
        return layer
    if _SHALLOW <= chosen_on <= _DEEP:
        chosen_on = min(max(num_layers, _SHALLOW), _DEEP)
    return min(max(1, round(layer * num_layers / chosen_on)), num_layers - 1)


def rows_ahead(total: int, ratio: float, layer: int, num_layers: int, share: float) -> int:
    """Return how many visual tokens may enter a model in which a later stage drops some of them.

    The stage before ``layer`` keeps the fraction ``share`` of those that enter. A layer then sees
    ``ratio * total`` visual tokens on average. The result is at least 1 and at most ``total``.
    """
    # mean number of layers that see a token: only the fraction ``share`` passes the stage
    depth = layer + (num_layers - layer) * share
    return max(1, min(total, math.floor(ratio * num_layers / depth * total + 1e-9)))


def rows_for_average(
    total: int, rows: int, ratio: float, layer: int, num_layers: int, method: str
) -> int:
    """Return how many visual tokens a stage before ``layer`` keeps to meet a retention ratio.

    A layer then sees at most ``ratio * total`` visual tokens on average. ``rows`` is the number
    that each layer before the stage sees. At least one token is kept, even if the average is then
    higher. Raises ``ValueError`` if the layers before the stage alone reach the ratio and ``rows``
    is above 1; ``method`` is the name in its message.
    """
    left = ratio * num_layers * total - layer * rows
    if left <= 0 and rows > 1:
        floor = layer * rows / (num_layers * total)
        raise ValueError(
            f"retention_ratio={ratio!r} is out of reach for {method}: the layers before layer "
            f"{layer} of {num_layers} alone cost an average of {floor:.3f}"
        )
    return min(rows, max(1, math.floor(left / (num_layers - layer) + 1e-9)))
