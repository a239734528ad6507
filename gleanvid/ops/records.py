"""Build a Compression from what a method decided: the row of every token, or its weights."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import torch

from gleanvid.types import Compression, VideoTokens

if TYPE_CHECKING:
    from torch import Tensor


def merge_record(
    tokens: VideoTokens,
    home: Tensor,
    weight: Tensor,
    scores: Mapping[str, Tensor] | None = None,
    trace: Mapping[str, Tensor] | None = None,
) -> Compression:
    """Return the record in which token i is merged into the row at token ``home[i]``.

    ``home`` int64 [L]: -1 drops the token, and ``home[home[i]] == home[i]`` for all others.
    ``weight`` [L]: weight of each token in its row.
    """
    keep = torch.unique(home[home >= 0])
    row = torch.full_like(home, -1)
    row[keep] = torch.arange(len(keep), device=home.device)
    group = torch.where(home >= 0, row[home.clamp(min=0)], -1)
    share = torch.where(home >= 0, weight.float(), 0.0)
    return Compression(keep, tokens.grid, group, share, scores or {}, trace or {})


def identity_record(
    tokens: VideoTokens,
    scores: Mapping[str, Tensor] | None = None,
    trace: Mapping[str, Tensor] | None = None,
) -> Compression:
    """Return the record that keeps every row unchanged."""
    keep = torch.arange(len(tokens), device=tokens.features.device)
    return Compression.pruned(keep, tokens.grid, scores, trace, len(tokens))


def required(tokens: VideoTokens, signal: str, method: str) -> Tensor:
    """Return a signal that ``method`` needs. Raises ``ValueError`` if ``tokens`` lacks it."""
    value = getattr(tokens, signal)
    if value is None:
        raise ValueError(f"{method} needs VideoTokens.{signal}, which is None")
    return value


def whole_record(by_layer: Mapping[int, Compression]) -> Compression:
    """Combine the records of all stages of one video, by layer, into a single record.

    Raises ``ValueError`` if ``by_layer`` is empty.
    """
    if not by_layer:
        raise ValueError("no stage has acted yet")
    layers = sorted(by_layer)
    whole = by_layer[layers[0]]
    for layer in layers[1:]:
        whole = whole.then(by_layer[layer])
    return whole


@dataclass(frozen=True, eq=False)
class Shares:
    """Weights of tokens in merged rows, as a list of E entries.

    Entry e says that token ``source[e]`` has weight ``weight[e]`` in the row with the index
    ``place[e]``. Two rows may have the same index; ``twin[e]`` is 1 for the second, else 0.
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
        """Return shares in which each token of ``kept`` int64 [K] is a row, unmerged (weight 1)."""
        return cls.of(kept, kept, torch.ones_like(kept))


def shared_record(
    tokens: VideoTokens,
    parts: Sequence[Shares],
    scores: Mapping[str, Tensor] | None = None,
    trace: Mapping[str, Tensor] | None = None,
) -> Compression:
    """Return the record with the entries of all ``parts``.

    It has a ``mixing`` only if a token belongs to more than one row.
    """
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
    # sorted by token, then by falling weight
    order = order[torch.sort(source[order], stable=True).indices]
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
