"""How many units of a clip had nothing to add to what was kept before them."""

from __future__ import annotations

from typing import NamedTuple

from gleanvid.types import Compression


class Saturation(NamedTuple):
    """Saturated units of one clip or of several.

    >>> str(Saturation(4, 16))
    '4 of 16 units had nothing new to add: chosen by local score alone'
    >>> str(Saturation(0, 16))
    ''
    """

    units: int
    of: int

    def __str__(self) -> str:
        if not self.units:
            return ""
        counted = f"{self.units} of {self.of} unit{'s' * (self.of != 1)}"
        return f"{counted} had nothing new to add: chosen by local score alone"


def saturation(record: Compression) -> Saturation | None:
    """The saturated units of a record; None where its method does not tell."""
    flags = record.trace.get("saturated")
    return None if flags is None else Saturation(int(flags.sum()), len(flags))
