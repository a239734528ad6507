"""Plan a comparison table: a row for every compressor at every retention ratio."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import Any, NamedTuple

from gleanvid.compressors import COMPRESSORS
from gleanvid.compressors.base import Compressor
from gleanvid.plots.labels import label_of

from ..jobs.methods import has_free_ratio

RATIOS = (0.05, 0.1, 0.15, 0.25, 0.5, 0.75)
MAX_ROWS = 40
NOTHING = "Choose at least one compressor and one retention ratio."
TOO_MANY = f"{{count}} rows; the limit is {MAX_ROWS}. Choose fewer compressors or ratios."


class Plan(NamedTuple):
    """A planned row of the comparison table: a compressor at one retention ratio.

    ``make`` returns the compressor; raises ``ValueError`` if the compressor refuses its settings.
    """

    label: str
    method: str  # name of the compressor
    make: Callable[[], Compressor]


def plans(
    names: Sequence[str], ratios: Sequence[float], make: Callable[[str, float], Compressor]
) -> list[Plan]:
    """Return the planned rows: all tokens first, then every compressor at every ratio.

    A compressor with a fixed ratio has one row. Compressors are in the order of the page's menu,
    and ratios ascend. Raises ``ValueError`` for no row, or more than ``MAX_ROWS``.
    """
    wanted = [
        (name, ratio)
        for name in COMPRESSORS
        if name in names and name != "full"
        for ratio in sorted(ratios if has_free_ratio(COMPRESSORS[name]) else ratios[:1])
    ]
    if not wanted:
        raise ValueError(NOTHING)
    if len(wanted) >= MAX_ROWS:
        raise ValueError(TOO_MANY.format(count=len(wanted) + 1))
    full = COMPRESSORS["full"]
    return [
        Plan(full.title, full.name, full),
        *(_plan(name, ratio, make) for name, ratio in wanted),
    ]


def _plan(name: str, ratio: float, make: Callable[[str, float], Compressor]) -> Plan:
    """Return a planned row with the label of its run, even if ``make`` refuses the settings."""
    settings: Mapping[str, Any] = {"name": name, "retention_ratio": ratio}
    with suppress(ValueError):
        settings = make(name, ratio).settings()
    return Plan(label_of(settings), name, lambda: make(name, ratio))


def needs_of(planned: list[Plan]) -> frozenset[str]:
    """Return the optional signals, such as "saliency", that a planned compressor reads."""
    needs: frozenset[str] = frozenset()
    for plan in planned:
        with suppress(ValueError):  # the row of this method will show the error
            needs |= plan.make().needs
    return needs
