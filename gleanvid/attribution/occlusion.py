"""Relevance by hiding tokens: the log-probability that the answer loses without them."""

from __future__ import annotations

from typing import ClassVar

import torch
from torch import Tensor

from gleanvid.attribution.prompt import AnsweredPrompt
from gleanvid.compressors.base import Compressor
from gleanvid.models import hooks
from gleanvid.types import Compression, VideoTokens

_SIDE = 3  # a frame is cut into at most 3 x 3 blocks


class Only(Compressor):
    """Compressor that keeps exactly the tokens with the indices ``tokens``, int64 [K] ascending."""

    name: ClassVar[str] = "only"
    title: ClassVar[str] = "Given tokens"
    paper: ClassVar[str] = ""

    def __init__(self, tokens: Tensor) -> None:
        super().__init__(retention_ratio=1.0)
        object.__setattr__(self, "tokens", tokens)

    def _compress(self, tokens: VideoTokens) -> Compression:
        keep: Tensor = self.tokens  # type: ignore[attr-defined]
        return Compression.pruned(keep.to(tokens.features.device), tokens.grid)


@torch.no_grad()
def log_probability_of(prompt: AnsweredPrompt, keep: Tensor) -> float:
    """Return the log-probability of the answer if the model reads only some visual tokens.

    ``keep`` int64 [K]: indices of these tokens. All other visual tokens are removed before the
    language model. The kept ones keep their position ids, so the result is the same as if attention
    to the removed ones were masked at every layer.
    """
    with hooks.compressing(prompt.hf_model, prompt.layout, Only(keep)):
        return float(prompt.log_probabilities().sum())


@torch.no_grad()
def occlusion_map(prompt: AnsweredPrompt, passes: int) -> tuple[Tensor, Tensor]:
    """Measure relevance by hiding each temporal unit, then blocks of the most relevant units.

    The loss of a unit or block is the drop of the answer's log-probability without it; a rise
    counts as 0. As long as passes are left, the units of largest loss are cut into blocks. The loss
    of a unit is divided among its blocks in proportion to their losses, and within a block evenly
    among its tokens. The relevance of a token is the loss that it gets.

    Args:
        prompt: a prompt followed by its answer.
        passes: largest number of forward passes with hidden tokens; at least two are made if the
            clip has more than one unit. If there are more units than passes, neighbouring units are
            hidden together.

    Returns:
        Log-probabilities [S] of the answer's tokens with all visual tokens, and the relevance of
        the visual tokens, float32 [L].
    """
    units, rows, columns = prompt.grid
    index = torch.arange(units * rows * columns)
    each = prompt.log_probabilities()
    whole = float(each.sum())

    def loss(region: Tensor) -> float:
        keep = torch.ones_like(index, dtype=torch.bool)
        keep[region] = False
        return max(0.0, whole - log_probability_of(prompt, keep.nonzero().squeeze(1)))

    if units == 1:  # the only unit cannot be hidden: the prompt would have no visual token
        spans, losses = [index], [1.0]
    else:
        parts = index.view(units, -1).tensor_split(max(2, min(units, passes)))
        spans = [part.flatten() for part in parts]
        losses = [loss(span) for span in spans]
        passes -= len(spans)
    relevance = torch.zeros(len(index))
    for span, lost in zip(spans, losses, strict=True):
        relevance[span] = lost / len(span)
    for place in sorted(range(len(spans)), key=losses.__getitem__, reverse=True):
        blocks = _blocks(spans[place].view(-1, rows, columns))
        if losses[place] <= 0 or passes < len(blocks) or len(blocks) < 2:
            break
        passes -= len(blocks)
        parts_lost = torch.tensor([loss(block) for block in blocks])
        if parts_lost.sum() > 0:
            for block, part in zip(blocks, parts_lost / parts_lost.sum(), strict=True):
                relevance[block] = losses[place] * part / len(block)
    return each, relevance


def _blocks(span: Tensor) -> list[Tensor]:
    """Cut token indices [units, rows, columns] into at most 3 x 3 blocks of the frame."""
    rows = span.tensor_split(min(_SIDE, span.shape[1]), 1)
    return [
        block.flatten() for row in rows for block in row.tensor_split(min(_SIDE, span.shape[2]), 2)
    ]
