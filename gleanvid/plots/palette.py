"""Colours, dashes and symbols that colour-blind people can tell apart, on paper and on screens.

Every method has its own style in all figures, given by its position in the list of compressors. No
two methods share both dash and symbol, so their lines can be told apart without colours.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from gleanvid.compressors import COMPRESSORS

# Okabe and Ito, "Color Universal Design", 2008, without the yellow, which white paper hides.
BLUE, ORANGE, VERMILLION, GREY = "#0072B2", "#E69F00", "#D55E00", "#808080"
GREEN, PURPLE, SKY = "#009E73", "#CC79A7", "#56B4E9"
_FIXED = {"full": GREY, "gleanvid": BLUE}
# Seven more colours, visible on white and on black. With five of Okabe and Ito they give twelve.
# Methods beyond the twelfth get a lighter shade of one of these.
_MORE = ("#7A5FD0", "#999933", "#B0306A", "#44AA99", "#AA4499", "#3B8F3F", "#A5692F")
_RIVALS = (ORANGE, GREEN, PURPLE, VERMILLION, SKY, *_MORE)
_LIGHTER = 0.4  # fraction of white that is mixed into a colour for its lighter shade
DASHES = ("solid", "dash", "dot", "dashdot")
SYMBOLS = ("circle", "square", "diamond", "triangle-up", "x", "triangle-down", "cross")
# 28 different pairs, as 4 dashes and 7 symbols are coprime; 28 more pairs have hollow symbols.
_FILLED = [(DASHES[n % len(DASHES)], SYMBOLS[n % len(SYMBOLS)]) for n in range(28)]
_PAIRS = _FILLED + [(dash, f"{symbol}-open") for dash, symbol in _FILLED]


def colours(names: Sequence[str]) -> list[str]:
    """Return a colour for every series: GleanVID blue, all tokens grey, others in a fixed order."""
    series = _keys(names)
    rivals = [name for name in [*COMPRESSORS, *series] if name not in _FIXED]
    places = {name: place for place, name in enumerate(dict.fromkeys(rivals))}
    return [_FIXED.get(name) or _rival(places[name]) for name in series]


def _rival(place: int) -> str:
    """Return the colour of the method at position ``place`` of those without a fixed colour."""
    turn, place = divmod(place, len(_RIVALS))
    colour = _RIVALS[place]
    if turn % 2 == 0:
        return colour
    parts = (int(colour[n : n + 2], 16) for n in (1, 3, 5))
    return "#" + "".join(f"{round(part + _LIGHTER * (255 - part)):02X}" for part in parts)


def styles(names: Sequence[str]) -> list[dict[str, Any]]:
    """Return the plotly line and marker of every series.

    ``names``: the method of each series, by its key or title. Series of one method have one colour
    but different pairs of dash and symbol. No two series share a pair while there are unused ones.
    A further series of a method gets a symbol that the method does not have yet, if possible.
    """
    series = _keys(names)
    order = dict.fromkeys(["gleanvid", *COMPRESSORS, *series])
    places = {name: place for place, name in enumerate(order)}
    free = [pair for place, pair in enumerate(_PAIRS) if place >= len(places)]
    taken: dict[str, list[str]] = {name: [] for name in series}
    found = []
    for name, colour in zip(series, colours(names), strict=True):
        pair = _PAIRS[places[name] % len(_PAIRS)]
        if taken[name] and free:
            pair = next((one for one in free if one[1] not in taken[name]), free[0])
            free.remove(pair)
        dash, symbol = pair
        taken[name].append(symbol)
        width = 2.5 if name == "gleanvid" else 1.25
        found.append(
            {
                "line": {"color": colour, "width": width, "dash": dash},
                "marker": {"color": colour, "symbol": symbol, "size": 6},
            }
        )
    return found


def _keys(names: Sequence[str]) -> list[str]:
    """Replace the titles of methods by their keys; leave all other names unchanged."""
    keys = {method.title: key for key, method in COMPRESSORS.items()}
    return [keys.get(name, name) for name in names]
