"""Stages inside a language model: at which layer they act and how many tokens they may leave.

Letters: L_m layers of the model, V visual tokens that entered it. ``layer`` K means "before layer
K".
"""

from __future__ import annotations

import math

_SHALLOW, _DEEP = 28, 36  # depths of the models the published layer numbers were chosen on


def scale_layer(layer: int, num_layers: int, chosen_on: int = _SHALLOW) -> int:
    """Return the layer at the same relative depth in a model of ``num_layers`` layers.

    ``chosen_on`` is the number of layers of the model for which ``layer`` was chosen. Published
    layers are used unchanged for models of 28 to 36 layers and scaled from the nearer of these two
    numbers for others. Layer 0 (before the model) stays 0; any other result is between 1 and the
    last layer.
    """
    if layer == 0 or num_layers == chosen_on:
        return layer
    if _SHALLOW <= chosen_on <= _DEEP:
        chosen_on = min(max(num_layers, _SHALLOW), _DEEP)
    return min(max(1, round(layer * num_layers / chosen_on)), num_layers - 1)


def rows_ahead(total: int, ratio: float, layer: int, num_layers: int, share: float) -> int:
    """Return how many rows may enter the model so that a layer sees ``ratio * total`` on average.

    A stage before ``layer`` keeps the fraction ``share`` of these rows. The result is limited to
    1 to ``total``.
    """
    # number of layers that see a row on average: the stage keeps only the fraction ``share``
    depth = layer + (num_layers - layer) * share
    return max(1, min(total, math.floor(ratio * num_layers / depth * total + 1e-9)))


def rows_for_average(
    total: int, rows: int, ratio: float, layer: int, num_layers: int, method: str
) -> int:
    """Return how many rows a stage before ``layer`` keeps, for ``ratio * total`` rows on average.

    The average is over all layers; each of those before the stage saw ``rows`` rows. The average is
    at most the ratio, except that one row is always kept. Raises ``ValueError``, with the name
    ``method``, if the layers before the stage already cost more.
    """
    left = ratio * num_layers * total - layer * rows
    if left <= 0 and rows > 1:
        floor = layer * rows / (num_layers * total)
        raise ValueError(
            f"retention_ratio={ratio!r} is out of reach for {method}: the layers before layer "
            f"{layer} of {num_layers} alone cost an average of {floor:.3f}"
        )
    return min(rows, max(1, math.floor(left / (num_layers - layer) + 1e-9)))
