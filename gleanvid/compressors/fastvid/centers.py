"""FastVID's cluster centres, and the salient tokens that fill a segment's total."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch

from gleanvid.compressors.shared.density_peaks import density_peaks
from gleanvid.compressors.shared.ranking import top_indices

if TYPE_CHECKING:
    from torch import Tensor

_NEIGHBOURS = 4


def centers_of(features: Tensor, salient: Tensor, context: Tensor) -> dict[int, Tensor]:
    """Choose cluster centres among the tokens of ``features`` [T, N, D] that are not salient.

    Returns the flat token indices of the centres by unit. ``context`` [T]: number of centres wanted
    in each unit; there are fewer if a unit has fewer tokens that are not salient.
    """
    found, per_unit = {}, features.shape[1]
    for unit in torch.nonzero(context).flatten().tolist():
        places = torch.nonzero(~salient[unit]).squeeze(1)
        count = min(int(context[unit]), len(places))
        if count:
            points = features[unit, places]
            chosen, _, _ = density_peaks(points, count, min(_NEIGHBOURS, len(places)))
            found[unit] = unit * per_unit + places[chosen]
    return found


def topped_up(
    saliency: Tensor,
    salient: Tensor,
    centers: dict[int, Tensor],
    spans: list[slice],
    totals: list[int],
) -> Tensor:
    """Return ``salient`` bool [T, N] with tokens added until each segment has its total.

    ``totals``: number of output tokens of each segment in ``spans``, cluster ``centers`` included.
    The tokens added have the highest ``saliency`` [T, N] of those neither marked nor centres.
    """
    taken = salient.clone()
    for chosen in centers.values():
        taken.view(-1)[chosen] = True
    salient = salient.clone()
    for span, total in zip(spans, totals, strict=True):
        left = saliency[span].masked_fill(taken[span], float("-inf")).flatten()
        missing = total - int(taken[span].sum())
        salient[span].view(-1)[top_indices(left, missing)] = True
    return salient
