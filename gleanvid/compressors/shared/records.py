"""Build compression records from the merges that a method has chosen."""

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
    """Return the compression record in which token i is merged into token ``home[i]``.

    ``home`` int64 [L]: a token with -1 is dropped, and for all others
    ``home[home[i]] == home[i]``. ``weight`` [L]: weight of each token in the output token, which is
    the weighted sum of the tokens merged into it. ``scores``, ``trace``: see :class:`Compression`.
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
    """Return the record that keeps every token; ``scores``, ``trace``: see :class:`Compression`."""
    keep = torch.arange(len(tokens), device=tokens.features.device)
    return Compression.pruned(keep, tokens.grid, scores, trace, len(tokens))


def required(tokens: VideoTokens, signal: str, method: str) -> Tensor:
    """Return the field ``signal`` of ``tokens``, such as "saliency".

    Raises ``ValueError`` if it is None; ``method`` is the name in the message.
    """
    value = getattr(tokens, signal)
    if value is None:
        raise ValueError(f"{method} needs VideoTokens.{signal}, which is None")
    return value


def whole_record(by_layer: Mapping[int, Compression]) -> Compression:
    """Combine the compression records of all stages of one video into a single one.

    ``by_layer``: the record of each stage, by the layer before which it acts. Raises ``ValueError``
    if there is none.
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
    """Weights of the input tokens in the output tokens, as a sparse list of E entries.

    Entry e says that input token ``source[e]`` has weight ``weight[e]`` in the output token with
    the index ``place[e]``. Two output tokens may have the same index. ``twin[e]`` is 1 for entries
    of the second one, else 0.
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
        """Return weights 1 for tokens that are not merged; ``kept`` int64 [K]: their indices."""
        return cls.of(kept, kept, torch.ones_like(kept))


def shared_record(
    tokens: VideoTokens,
    parts: Sequence[Shares],
    scores: Mapping[str, Tensor] | None = None,
    trace: Mapping[str, Tensor] | None = None,
) -> Compression:
    """Return the compression record with the entries of all ``parts``.

    It has a ``mixing`` matrix only if an input token is merged into more than one output token.
    ``scores``, ``trace``: see :class:`Compression`.
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
    # sort the entries by input token, those of one token by falling weight
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
