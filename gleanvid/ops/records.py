"""Records of methods that merge: from "which token does each token join" to a Compression."""

from __future__ import annotations

from collections.abc import Mapping
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
    """The record in which token i joins the row at token ``home[i]``; -1 drops it.

    ``home`` int64 [L], ``weight`` [L] the share of each token in its row. A home is a token of its
    own row: ``home[home[i]] == home[i]``.
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
    """The record that keeps every row as it is."""
    keep = torch.arange(len(tokens), device=tokens.features.device)
    return Compression.pruned(keep, tokens.grid, scores, trace, len(tokens))


def required(tokens: VideoTokens, signal: str, method: str) -> Tensor:
    """A signal that ``method`` cannot do without; ``ValueError`` where ``tokens`` lacks it."""
    value = getattr(tokens, signal)
    if value is None:
        raise ValueError(f"{method} needs VideoTokens.{signal}, which is None")
    return value


def whole_record(by_layer: Mapping[int, Compression]) -> Compression:
    """All stages of one video as a single record of its tokens, from layer -> record.

    Raises ``ValueError`` where there is no stage.
    """
    if not by_layer:
        raise ValueError("no stage has acted yet")
    layers = sorted(by_layer)
    whole = by_layer[layers[0]]
    for layer in layers[1:]:
        whole = whole.then(by_layer[layer])
    return whole
