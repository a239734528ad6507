"""Uniform: the same number of tokens from every unit, evenly spaced over the grid."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import torch

from gleanvid.compressors.base import Compressor
from gleanvid.ops.budgets import largest_remainder
from gleanvid.types import Compression, VideoTokens


@dataclass(frozen=True)
class Uniform(Compressor):
    """Budget B/T per unit (rounding shared out in order) at evenly spaced row-major positions."""

    name: ClassVar[str] = "uniform"
    paper: ClassVar[str] = "baseline: even spacing in time and space"

    def compress(self, tokens: VideoTokens) -> Compression:
        units, per_unit = tokens.num_units, tokens.tokens_per_unit
        budgets = largest_remainder(torch.ones(units), self.budget(tokens), per_unit)
        kept = [
            unit * per_unit + (2 * torch.arange(budget) + 1) * per_unit // (2 * budget)
            for unit, budget in enumerate(budgets.tolist())
            if budget
        ]
        return Compression.pruned(torch.cat(kept).to(tokens.features.device), tokens.grid)
