"""Stages inside a language model: at which layer they act and how many tokens they may leave.

Letters: L_m layers of the model, V visual tokens that entered it. ``layer`` K means "before layer
K".
"""

from __future__ import annotations

import math

_SHALLOW, _DEEP = 28, 36  # depths of the models the published layer numbers were chosen on


def scale_layer(layer: int, num_layers: int, chosen_on: int = _SHALLOW) -> int:
    """The layer at the same relative depth of a model of ``num_layers`` layers.

    ``chosen_on`` is the depth that ``layer`` was chosen on. Published layers hold for 28 to 36
    layers alike; outside that range they scale from its nearer end. Layer 0 stays ahead of the
    model, any other lies between 1 and the last layer.
    """
    if layer == 0 or num_layers == chosen_on:
        return layer
    if _SHALLOW <= chosen_on <= _DEEP:
        chosen_on = min(max(num_layers, _SHALLOW), _DEEP)
    return min(max(1, round(layer * num_layers / chosen_on)), num_layers - 1)


def rows_ahead(total: int, ratio: float, layer: int, num_layers: int, share: float) -> int:
    """Rows before the model so that the layers' average is ``ratio`` of ``total``, at least one.

    A stage before ``layer`` leaves ``share`` of them. More than ``total`` there cannot be.
    """
    depth = (
        layer + (num_layers - layer) * share
    )  # cost of a row in layers, weighted by the fraction kept
    return max(1, min(total, math.floor(ratio * num_layers / depth * total + 1e-9)))


def rows_for_average(
    total: int, rows: int, ratio: float, layer: int, num_layers: int, method: str
) -> int:
    """Rows a stage before ``layer`` leaves so that the layers' average is ``ratio`` of ``total``.

    ``rows`` is what all the layers before it saw. The average is at most the ratio, but one token
    always stays. Raises ``ValueError`` where the layers passed spent it all.
    """
    left = ratio * num_layers * total - layer * rows
    if left <= 0 and rows > 1:
        floor = layer * rows / (num_layers * total)
        raise ValueError(
            f"retention_ratio={ratio!r} is out of reach for {method}: the layers before layer "
            f"{layer} of {num_layers} alone cost an average of {floor:.3f}"
        )
    return min(rows, max(1, math.floor(left / (num_layers - layer) + 1e-9)))
