"""Saturation: in how many units no token adds anything new to the tokens kept before."""

from __future__ import annotations

from typing import NamedTuple

from gleanvid.types import Compression


class Saturation(NamedTuple):
    """Number of saturated units, and of all units, of one clip or several.

    >>> str(Saturation(4, 16))
    '4 of 16 units had nothing new to add: their tokens were chosen by local score alone'
    >>> str(Saturation(0, 16))
    ''
    """

    units: int
    of: int

    def __str__(self) -> str:
        if not self.units:
            return ""
        counted = f"{self.units} of {self.of} unit{'s' * (self.of != 1)}"
        return f"{counted} had nothing new to add: their tokens were chosen by local score alone"


def saturation(record: Compression) -> Saturation | None:
    """Count the units none of whose tokens adds anything new; None if the method does not say."""
    flags = record.trace.get("saturated")
    return None if flags is None else Saturation(int(flags.sum()), len(flags))
