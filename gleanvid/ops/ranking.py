"""Choosing the best of a list, with ties to the lower index and the answer in ascending order."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch

if TYPE_CHECKING:
    from torch import Tensor


def descending(scores: Tensor) -> Tensor:
    """int64 [..., n]: indices from the largest score to the smallest, ties to the lower index."""
    return torch.sort(scores, dim=-1, descending=True, stable=True).indices


def top_indices(scores: Tensor, count: int) -> Tensor:
    """int64 [..., count]: the ``count`` largest along the last axis, ascending by index."""
    return descending(scores)[..., :count].sort(dim=-1).values


def ranks(scores: Tensor) -> Tensor:
    """int64 [..., n]: 0 for the largest score of its row and so on, ties to the lower index."""
    order = descending(scores)
    places = torch.arange(scores.shape[-1], device=scores.device).expand_as(order)
    return torch.empty_like(order).scatter_(-1, order, places)


def most_similar(rows: Tensor, others: Tensor, chunk: int = 1024) -> Tensor:
    """int64 [n]: for each of rows [n, D] the most cosine-similar of ``others`` [m, D], chunked."""
    units = torch.nn.functional.normalize(others, dim=-1)
    parts = [
        (torch.nn.functional.normalize(part, dim=-1) @ units.T).argmax(dim=1)
        for part in rows.split(chunk)
    ]
    return torch.cat(parts) if parts else rows.new_zeros(0, dtype=torch.long)
