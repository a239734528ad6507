"""A random generator seeded by the content of a clip."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

import torch

from gleanvid.types import VideoTokens

if TYPE_CHECKING:
    from torch import Tensor

# number of pairs of feature values to compare: enough to tell clips apart, and so few that rounding
# errors rarely change the result of a comparison
_COMPARISONS = 32


def content_generator(tokens: VideoTokens, seed: int) -> torch.Generator:
    """Return a CPU generator seeded by ``seed``, the grid, and what the clip shows.

    The features are reduced to 32 comparisons of two tokens of a unit in one channel. These change
    only if two values differ by rounding errors, so another machine or dtype nearly always gives
    the same generator. A model in another precision may give another one.
    """
    text = f"{seed} {tokens.grid} {_comparisons(tokens).int().tolist()}"
    number = int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big")
    return torch.Generator().manual_seed(number >> 1)


def _comparisons(tokens: VideoTokens) -> Tensor:
    """Compare the values of 32 pairs of tokens, each within one unit: bool [32].

    Tokens of two units are not compared, because in a still clip they are equal.
    """
    places = torch.Generator().manual_seed(0)
    per_unit, count = tokens.tokens_per_unit, (_COMPARISONS,)
    unit = torch.randint(tokens.num_units, count, generator=places)
    first = torch.randint(per_unit, count, generator=places)
    step = torch.randint(1, max(per_unit, 2), count, generator=places)
    channel = torch.randint(tokens.features.shape[1], count, generator=places)
    start, second = unit * per_unit, (first + step) % per_unit
    features, device = tokens.features.detach(), tokens.features.device
    start, first, second, channel = (index.to(device) for index in (start, first, second, channel))
    return (features[start + first, channel] > features[start + second, channel]).cpu()
