"""Colours, dashes and symbols that colour-blind people can tell apart, on paper and on screens."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

# Okabe and Ito, "Color Universal Design", 2008, without the yellow that white paper swallows.
BLUE, ORANGE, VERMILLION, GREY = "#0072B2", "#E69F00", "#D55E00", "#808080"
GREEN, PURPLE, SKY = "#009E73", "#CC79A7", "#56B4E9"
_FIXED = {"gleanvid": BLUE, "full": GREY, "all tokens": GREY}  # by name or display name
_RIVALS = (ORANGE, GREEN, PURPLE, VERMILLION, SKY)
DASHES = ("solid", "dash", "dot", "dashdot")
SYMBOLS = ("circle", "square", "diamond", "triangle-up", "x", "cross")


def colours(names: Sequence[str]) -> list[str]:
    """A colour a series: GleanVID blue, full tokens grey, the others in turn."""
    rivals = [name for name in dict.fromkeys(names) if name.lower() not in _FIXED]
    turn = {name: _RIVALS[place % len(_RIVALS)] for place, name in enumerate(rivals)}
    return [_FIXED.get(name.lower()) or turn[name] for name in names]


def looks(names: Sequence[str]) -> list[dict[str, Any]]:
    """Line and marker of every series; a colour that comes again has another dash and symbol."""
    seen: Counter[str] = Counter()
    found = []
    for colour in colours(names):
        again = seen[colour]
        seen[colour] += 1
        found.append(
            {
                "line": {"color": colour, "width": 2, "dash": DASHES[again % len(DASHES)]},
                "marker": {"color": colour, "symbol": SYMBOLS[again % len(SYMBOLS)], "size": 6},
            }
        )
    return found
