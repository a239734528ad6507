"""ByHand: keep the tokens that a person chose, to ask "what if this object were not there?"."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import torch

from gleanvid.compressors.base import Compressor, setting
from gleanvid.types import Compression, VideoTokens

if TYPE_CHECKING:
    from torch import Tensor

_TEXT = re.compile(r"\d{1,5}(x\d{1,5}){2}( \d{1,9}(-\d{1,9})?)+")
# largest number of tokens of a grid: a shared link with a larger grid could exhaust memory
_LARGEST = 2**24
_SHOWN = 40  # number of characters of an invalid text that the error message quotes


@dataclass(frozen=True)
class ByHand(Compressor):
    """Keeps exactly the tokens that its setting names; :func:`by_hand` writes the setting.

    Args:
        retention_ratio: Follows from ``keep``; any value that is passed is replaced.
        keep: Units, rows and columns of the grid, then ranges of flat token indices. In
            "2x3x4 0-5 9", seven of 24 tokens are kept.

    Raises:
        ValueError: ``keep`` cannot be parsed, names no token or one outside its grid, or is not in
            ascending order. Compressing raises it if the video has another grid.

    >>> ByHand(keep="2x3x4 0-5 9").compress(VideoTokens(torch.rand(24, 8), (2, 3, 4))).num_kept
    7
    """

    name: ClassVar[str] = "by_hand"
    title: ClassVar[str] = "Edited by hand"
    paper: ClassVar[str] = "not a published method: tokens chosen by a person"

    retention_ratio: float = setting(
        1.0,
        "Fraction of the visual tokens kept; follows from the tokens chosen by hand",
        low=1.0,
        high=1.0,
    )
    keep: str = setting(
        "", "Token grid, then indices of the kept tokens, such as 2x3x4 0-5 9", open=True
    )

    def __post_init__(self) -> None:
        object.__setattr__(self, "retention_ratio", float(self._mask().double().mean()))

    def _compress(self, tokens: VideoTokens) -> Compression:
        mask = self._mask()
        if tuple(mask.shape) != tuple(tokens.grid):
            raise ValueError(
                f"these tokens were chosen by hand on a grid of {_grid_text(mask.shape)}; "
                f"this video has {_grid_text(tokens.grid)}"
            )
        keep = mask.flatten().nonzero().squeeze(1)
        return Compression.pruned(keep.to(tokens.features.device), tokens.grid)

    def _mask(self) -> Tensor:
        """Return the mask in ``keep``, bool [T, rows, columns]: True for kept tokens."""
        text = self.keep
        if not isinstance(text, str) or not _TEXT.fullmatch(text):
            raise ValueError(
                f"keep={_short(text)} must be a token grid and the kept tokens, "
                "such as '2x3x4 0-5 9'"
            )
        first, *ranges = text.split()
        grid = tuple(map(int, first.split("x")))
        total = math.prod(grid)
        if total > _LARGEST:
            raise ValueError(f"keep={_short(text)} must be for a grid of at most {_LARGEST} tokens")
        mask, after = torch.zeros(total, dtype=torch.bool), 0
        for low, _, high in (one.partition("-") for one in ranges):
            # ``after``: end of the previous range; ranges must not overlap.
            if not after <= int(low) <= int(high or low) < total:
                raise ValueError(
                    f"keep={_short(text)} must name tokens from 0 to {total - 1} in ascending order"
                )
            after = int(high or low) + 1
            mask[int(low) : after] = True
        return mask.reshape(grid)


def by_hand(keep: Tensor | Sequence[int] | str, grid: tuple[int, int, int] | None = None) -> ByHand:
    """Return the compressor that keeps these tokens and no others.

    Args:
        keep: bool [T, rows, columns], True for every token to keep; or flat indices in any order;
            or the text that :class:`ByHand` takes.
        grid: (T, rows, columns) of the video; needed with indices.

    Raises:
        ValueError: No token is kept, an index is outside the grid, or the grid is missing.

    >>> by_hand([9, 0, 1, 2], grid=(2, 3, 4)).keep
    '2x3x4 0-2 9'
    """
    if isinstance(keep, str):
        return ByHand(keep=keep)
    given = torch.as_tensor(keep)
    if given.dtype == torch.bool and given.ndim == 3:
        (units, rows, columns), given = given.shape, given.flatten().nonzero().squeeze(1)
        grid = (units, rows, columns)
    if grid is None or given.dtype == torch.bool or given.ndim != 1:
        raise ValueError("keep must be a bool mask [T, rows, columns], or indices with their grid")
    indices = given.unique().tolist()
    starts = [n for place, n in enumerate(indices) if not place or indices[place - 1] != n - 1]
    stops = [n for n, after in zip(indices, [*indices[1:], None], strict=True) if after != n + 1]
    ranges = (f"{a}" if a == b else f"{a}-{b}" for a, b in zip(starts, stops, strict=True))
    return ByHand(keep=" ".join([_grid_text(grid), *ranges]))


def _grid_text(grid: Sequence[int]) -> str:
    return "x".join(map(str, grid))


def _short(text: object) -> str:
    written = repr(text)
    return written if len(written) <= _SHOWN else f"{written[: _SHOWN - 1]}…"
