"""Tables and sentences that compare one method, the reference, with all others.

The reference is GleanVID, or another method named for the evaluation.

p values come from the sign-flip test by clip (:func:`.statistics.sign_flip`). They are adjusted
together for all comparisons in one results file ("page").
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from gleanvid.evaluation.markdown import markdown_table
from gleanvid.evaluation.tables.result_tables import p_value, points, span, who
from gleanvid.evaluation.tables.statistics import holm
from gleanvid.evaluation.tables.summary import Result

ACCURACY = "accuracy"  # by default, tests compare methods by the benchmark's own average
_LEVEL = 0.05
_SIDES = ("ahead of", "not told apart from", "behind")
Adjusted = Mapping[tuple[str, str], float]  # adjusted p by (response mode, ``Setup.key``)


def paired_table(
    results: Sequence[Result],
    adjusted: Adjusted,
    metric: str = ACCURACY,
    reference: str = "GleanVID",
) -> str:
    """Return a Markdown table of the reference's accuracy minus that of every other method.

    ``reference``: its title.

    The sentences of :func:`standing` follow it. Differences are in percentage points. The columns
    "p" and "Holm" are the p values, raw and adjusted, of the sign-flip test on the average
    ``metric``.
    """
    pairs = [(one, one.comparison) for one in results if one.comparison and not one.blank]
    if not pairs:
        return ""
    macros = list(pairs[0][1].macro)
    heads = [f"{reference} against", "kept", "frames", "points", "95 %, clips"]
    heads += [head for name in macros for head in (f"{name}, points", "95 %, clips")]
    rows = []
    for result, pair in pairs:
        row = [*who(result), points(pair.difference), span(pair.difference, signed=True)]
        for name in macros:
            row += [points(pair.macro[name]), span(pair.macro[name], signed=True)]
        rows.append([*row, p_value(pair.at(metric)[1]), p_value(adjusted[_place(result)])])
    about = "p" if metric == ACCURACY else f"p, {metric}"
    table = markdown_table([*heads, about, "Holm"], rows)
    return table + "\n" + standing(results, adjusted, metric, reference)


def holm_of_page(results: Sequence[Result], metric: str = ACCURACY) -> Adjusted:
    """Return the p values of all comparisons by ``metric``, adjusted together by Holm's method."""
    found = {
        _place(one): one.comparison.at(metric)[1]
        for one in results
        if one.comparison and not one.blank
    }
    return dict(zip(found, holm([*found.values()]), strict=True))


def _place(result: Result) -> tuple[str, str]:
    return result.how, result.setup.key


def standing(
    results: Sequence[Result],
    adjusted: Adjusted,
    metric: str = ACCURACY,
    reference: str = "GleanVID",
) -> str:
    """Return a Markdown list of methods the reference is ahead of, not told apart from, or behind.

    There is one line for each retention ratio and number of frames.
    """
    found: dict[str, dict[str, list[str]]] = {}
    for result in results:
        if result.blank or not result.comparison:
            continue
        setup, difference = result.setup, result.comparison.at(metric)[0]
        place = f"{setup.retention_ratio:.0%} kept, {setup.num_frames} frames"
        sides = found.setdefault(place, {name: [] for name in _SIDES})
        about = f"{setup.title} ({points(difference)}, {span(difference, signed=True)})"
        sides[side(difference.value, adjusted[_place(result)])].append(about)
    lines = [f"- {place}: {sentence(sides)}." for place, sides in found.items()]
    of = "" if metric == ACCURACY else f"{metric}, "
    about = (
        f"{reference} by ratio ({of}sign-flip by clip, Holm over all comparisons of this page, "
        f"p < {_LEVEL:g}; points with 95 % intervals by clip, not adjusted):"
    )
    return about + "\n\n" + "\n".join(lines) + "\n" if lines else ""


def side(difference: float, p: float) -> str:
    """Return "ahead of", "not told apart from" or "behind" for the reference against a method.

    ``difference``: the reference's accuracy minus the method's; ``p``: its adjusted p value.
    """
    if p >= _LEVEL:
        return _SIDES[1]
    return _SIDES[0] if difference > 0 else _SIDES[2]


def sentence(sides: Mapping[str, Sequence[str]]) -> str:
    """Join methods into a sentence without a full stop.

    ``sides``: the methods by result of :func:`side`, such as "ahead of".
    """
    return "; ".join(f"{name} {', '.join(sides[name])}" for name in _SIDES if sides.get(name))
