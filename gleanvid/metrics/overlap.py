"""Overlap of the kept positions of two compressions of one clip."""

from __future__ import annotations

from gleanvid.types import Compression


def mask_overlap(a: Compression, b: Compression) -> float:
    """Return intersection over union of the positions that two records of a clip keep.

    Raises:
        ValueError: the records have different grids.
    """
    if a.grid != b.grid or a.num_tokens != b.num_tokens:
        raise ValueError(f"records of different clips: grids {a.grid} and {b.grid}")
    first, second = a.mask.cpu(), b.mask.cpu()
    return float((first & second).sum() / (first | second).sum())
