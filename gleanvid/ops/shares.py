"""Records of methods in which one token may feed several rows, or two rows stand at one index."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import torch

from gleanvid.types import Compression, VideoTokens

if TYPE_CHECKING:
    from torch import Tensor


@dataclass(frozen=True, eq=False)
class Shares:
    """What goes into rows: token ``source`` [E] with ``weight`` [E] into the row at ``place`` [E].

    ``twin`` [E] tells the second of two rows at one index from the first.
    """

    place: Tensor
    source: Tensor
    weight: Tensor
    twin: Tensor

    @classmethod
    def of(cls, place: Tensor, source: Tensor, weight: Tensor, twin: bool = False) -> Shares:
        return cls(place, source, weight.float(), torch.full_like(place, int(twin)))

    @classmethod
    def untouched(cls, kept: Tensor) -> Shares:
        """Rows that are the tokens themselves."""
        return cls.of(kept, kept, torch.ones_like(kept))


def shared_record(
    tokens: VideoTokens,
    parts: Sequence[Shares],
    scores: Mapping[str, Tensor] | None = None,
    trace: Mapping[str, Tensor] | None = None,
) -> Compression:
    """The record of all parts; it holds a ``mixing`` only if a token feeds more than one row."""
    place, source, weight, twin = (
        torch.cat([getattr(part, name) for part in parts])
        for name in ("place", "source", "weight", "twin")
    )
    keys, row = torch.unique(2 * place + twin, return_inverse=True)
    size = (len(keys), len(tokens))
    mixing = torch.sparse_coo_tensor(
        torch.stack([row, source]), weight, size, check_invariants=False
    ).coalesce()
    (row, source), weight = mixing.indices(), mixing.values()
    order = torch.sort(weight, stable=True, descending=True).indices
    order = order[torch.sort(source[order], stable=True).indices]  # by token, its heaviest first
    first = torch.ones_like(order, dtype=torch.bool)
    first[1:] = source[order[1:]] != source[order[:-1]]
    main = order[first]
    group = torch.full((len(tokens),), -1, dtype=torch.long, device=place.device)
    share = torch.zeros(len(tokens), device=place.device)
    group[source[main]] = row[main]
    share[source[main]] = weight[main]
    keep = torch.div(keys, 2, rounding_mode="floor")
    return Compression(
        keep,
        tokens.grid,
        group,
        share,
        scores or {},
        trace or {},
        mixing if len(main) < len(source) else None,
    )
