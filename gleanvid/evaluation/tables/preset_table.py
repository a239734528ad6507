"""A table in the shape of one of the paper's."""

from __future__ import annotations

from collections.abc import Sequence

from gleanvid.evaluation.markdown import markdown_table
from gleanvid.evaluation.paper.presets import Preset
from gleanvid.evaluation.tables.formatting import p_value, percent, span
from gleanvid.evaluation.tables.main_table import group_share, inline_groups
from gleanvid.evaluation.tables.paired_table import with_holm
from gleanvid.evaluation.tables.summary import Result


def preset_table(preset: Preset, results: Sequence[Result]) -> str:
    """Markdown; ``results`` are all tokens and the variants.

    The relative performance has its drop below GleanVID's in brackets, in points. p is that of the
    sign-flip test against GleanVID, "Holm" adjusted for the rows of this table.
    """
    groups = inline_groups(results)
    several = len({result.setup.num_frames for result in results}) > 1
    ours = [result.relative.value for result in results if result.beside is None][1:]
    adjusted = {one.setup.key: p for one, _, p in with_holm(results)}
    heads = [preset.heading, *(["frames", "kept"] if several else []), *groups]
    heads += ["overall", "95 %, clips", "rel. perf. (%)", "p", "Holm"]
    heads += ["evidence kept"] if results[0].evidence else []
    rows = []
    for result in results:
        setup, pair = result.setup, result.beside
        relative = percent(result.relative)
        if pair is not None and ours and not several:
            relative += f" ({100 * (result.relative.value - ours[0]):+.1f})"
        row = [setup.title]
        row += [str(setup.num_frames), f"{setup.retention_ratio:.0%}"] if several else []
        row += [group_share(result, name) for name in groups]
        row += ["failed" if result.blank else percent(result.accuracy), span(result.by_clip)]
        row += [relative, p_value(pair.sign_flip if pair else None)]
        row += [p_value(adjusted.get(setup.key))]
        row += [percent(result.evidence.kept)] if result.evidence else []
        rows.append(row)
    return markdown_table(heads, rows)
