"""GleanVID against every other method on the same questions, in a table and in a sentence."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from gleanvid.evaluation.markdown import markdown_table
from gleanvid.evaluation.tables.formatting import p_value, points, span, who
from gleanvid.evaluation.tables.paired import Paired
from gleanvid.evaluation.tables.statistics import holm
from gleanvid.evaluation.tables.summary import Result

_LEVEL = 0.05
_SIDES = ("ahead of", "not told apart from", "behind")


def paired_table(results: Sequence[Result]) -> str:
    """Markdown: points that GleanVID is ahead by, intervals over clips, p values; then the verdict.

    ``Holm`` adjusts the sign-flip p for all comparisons of the table together.
    """
    pairs = with_holm(results)
    if not pairs:
        return ""
    macros = list(pairs[0][1].macro)
    heads = ["GleanVID against", "kept", "frames", "points", "95 %, clips"]
    heads += [head for name in macros for head in (f"{name}, points", "95 %, clips")]
    heads += ["p McNemar", "p sign-flip", "Holm"]
    rows = []
    for result, pair, adjusted in pairs:
        row = [*who(result), points(pair.difference), span(pair.difference, signed=True)]
        for name in macros:
            row += [points(pair.macro[name]), span(pair.macro[name], signed=True)]
        rows.append([*row, p_value(pair.mcnemar), p_value(pair.sign_flip), p_value(adjusted)])
    return markdown_table(heads, rows) + "\n" + standing(results)


def with_holm(results: Sequence[Result]) -> list[tuple[Result, Paired, float]]:
    """Every comparison with its sign-flip p adjusted for all of them."""
    found = [(one, one.beside) for one in results if one.beside is not None and not one.blank]
    adjusted = holm([pair.sign_flip for _, pair in found])
    return [(one, pair, p) for (one, pair), p in zip(found, adjusted, strict=True)]


def standing(results: Sequence[Result]) -> str:
    """Markdown: for every ratio, which methods GleanVID is ahead of, level with and behind."""
    found: dict[str, dict[str, list[str]]] = {}
    for result, pair, p in with_holm(results):
        setup = result.setup
        ahead = _SIDES[0] if pair.difference.value > 0 else _SIDES[2]
        side = ahead if p < _LEVEL else _SIDES[1]
        place = f"{setup.retention_ratio:.0%} kept, {setup.num_frames} frames"
        sides = found.setdefault(place, {name: [] for name in _SIDES})
        sides[side].append(f"{setup.title} ({points(pair.difference)})")
    lines = [f"- {place}: {_sentence(sides)}." for place, sides in found.items()]
    about = f"GleanVID by ratio (sign-flip by clip, Holm over the table, p < {_LEVEL:g}):"
    return about + "\n\n" + "\n".join(lines) + "\n" if lines else ""


def _sentence(sides: Mapping[str, Sequence[str]]) -> str:
    return "; ".join(f"{side} {', '.join(names)}" for side, names in sides.items() if names)
