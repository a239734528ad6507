"""Order scores and choose the largest. Of equal scores the lower index comes first."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch

if TYPE_CHECKING:
    from torch import Tensor


def descending(scores: Tensor) -> Tensor:
    """Return the indices of scores from largest to smallest, int64 [..., n].

    Of equal scores the lower index comes first.
    """
    return torch.sort(scores, dim=-1, descending=True, stable=True).indices


def top_indices(scores: Tensor, count: int) -> Tensor:
    """Return the indices of the ``count`` largest scores, int64 [..., count], ascending."""
    return descending(scores)[..., :count].sort(dim=-1).values


def ranks(scores: Tensor) -> Tensor:
    """Return the rank of each score along the last axis, int64 [..., n]: 0 for the largest.

    Of equal scores the one with the lower index has the lower rank.
    """
    order = descending(scores)
    places = torch.arange(scores.shape[-1], device=scores.device).expand_as(order)
    return torch.empty_like(order).scatter_(-1, order, places)


def most_similar(rows: Tensor, others: Tensor, chunk: int = 1024) -> Tensor:
    """Return for each of ``rows`` [n, D] the index of the most similar of ``others``, int64 [n].

    ``others``: [m, D]. Similarity is the cosine. ``chunk``: number of ``rows`` that are compared at
    a time.
    """
    units = torch.nn.functional.normalize(others, dim=-1)
    parts = [
        (torch.nn.functional.normalize(part, dim=-1) @ units.T).argmax(dim=1)
        for part in rows.split(chunk)
    ]
    return torch.cat(parts) if parts else rows.new_zeros(0, dtype=torch.long)
