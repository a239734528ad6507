"""The table of evidence: the share kept, and its correlation with right answers."""

from __future__ import annotations

from collections.abc import Sequence

from gleanvid.evaluation.markdown import markdown_table
from gleanvid.evaluation.tables.evidence import MEASURES, Evidence
from gleanvid.evaluation.tables.formatting import coefficient, percent, span, who
from gleanvid.evaluation.tables.summary import Result

_HEADS = {
    "kept": "tokens",
    "reachable": "of reachable",
    "things": "things",
    "moments": "moments",
    "represented": "represented",
}


def evidence_table(results: Sequence[Result], whole: Evidence | None = None) -> str:
    """Markdown: shares kept, means over questions, and ``r``, their correlation with being right.

    ``whole``: the evidence of all rows together, for the last line.
    """
    known = [(who(one), one.evidence) for one in results if one.evidence and not one.blank]
    if whole is not None:
        known.append((["all rows but the first", "", ""], whole))
    if not known:
        return ""
    names = [name for name in MEASURES if any(name in seen.means for _, seen in known)]
    heads = ["evidence kept (%)", "kept", "frames"]
    heads += [head for name in names for head in (_HEADS[name], "95 %, clips")]
    heads += [f"r {_HEADS[name]}" for name in names]
    rows = []
    for place, seen in known:
        row = list(place)
        for name in names:
            mean = seen.means.get(name)
            row += [percent(mean), span(mean) if mean else ""]
        rows.append([*row, *(coefficient(seen.correlations.get(name)) for name in names)])
    return markdown_table(heads, rows)
