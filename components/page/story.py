"""Explain a run in five steps, from frames to the cost of its answer (tab About)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from textwrap import shorten
from typing import Any

import numpy as np
import torch

from gleanvid.plots.labels import label_of, title_of
from gleanvid.plots.overlay import frame_of, heat_frame, overlay_frame
from gleanvid.run import Run

from ..widgets.thumbnails import thumbnail

WIDTH = 220  # maximum width and height of an image in pixels
LONGEST = 160  # maximum number of characters shown of an answer
TEXTS = (
    (
        "Frames become tokens",
        "The model reads the clip in temporal units, often of two frames each. It cuts every unit "
        "into patches: its visual tokens.",
    ),
    (
        "What is new?",
        "Most tokens repeat earlier ones. Novelty is the part of a unit that the units before it "
        "cannot explain; the first unit has nothing before it.",
    ),
    (
        "Where does the budget go?",
        "A fraction of the kept tokens, alpha, is spread evenly over the units; the rest follows "
        "novelty. Alpha falls, within its bounds, as the novelty Gini rises from 0 (novelty equal "
        "in all units) towards 1 (all novelty in one unit).",
    ),
    (
        "Which tokens add something?",
        "LRS is high for a token that stands for its neighbourhood rather than for the whole "
        "frame, SCS for one that the tokens kept before cannot explain. The joint score is their "
        "sum, each scaled to 0–1 in the unit. Tokens with the highest joint scores are kept.",
    ),
    (
        "What does the answer cost?",
        "The language model reads the kept tokens alone. That saves prefill FLOPs (computed by "
        "formula) and time to the first token.",
    ),
)
NO_STEP = "{method} does not take this step. Choose GleanVID for A or B to see its numbers."
SCORES = (("lrs", "LRS"), ("scs", "SCS"), ("joint", "joint score"))


def story(runs: Sequence[Run]) -> dict[str, Any]:
    """Explain the first GleanVID run among ``runs``, or the first run if there is none.

    ``runs``: the runs in the viewer: that on side B, that on side A, then others.

    Returns:
        "about": a line that names the run. "steps": a list of steps. Each has a title, a text, a
        sentence with numbers, and images (caption and JPEG as a data URI). Some steps also have a
        grid to draw over the images, or a strip that shows one value per temporal unit.
    """
    run = next((run for run in runs if "alpha" in run.compression.trace), runs[0])
    unit = busiest(run)
    parts = (_tokens(run, unit), _novelty(run, unit), _budget(run, unit), _choice(run, unit))
    steps = (*parts, _cost(run, runs, unit))
    return {
        "about": f"{label_of(run.compressor)} on {run.video.name}",
        "steps": [
            {"title": title, "text": text, "pictures": [], "grid": None, "strip": None} | step
            for (title, text), step in zip(TEXTS, steps, strict=True)
        ],
    }


def busiest(run: Run) -> int:
    """Return the index of the temporal unit with most kept tokens, not counting the first unit."""
    later = run.compression.budgets[1:]
    return 1 + int(later.argmax()) if len(later) else 0


def _tokens(run: Run, unit: int) -> dict[str, Any]:
    units, rows, columns = run.compression.grid
    frame = run.video.frames[frame_of(run, unit)]
    return {
        "figures": f"{len(run.video)} frames → {units} units of {rows} × {columns} tokens = "
        f"{run.compression.num_tokens:,} tokens.",
        "pictures": [_picture(f"unit {unit + 1}", frame)],
        "grid": [rows, columns],
    }


def _novelty(run: Run, unit: int) -> dict[str, Any]:
    record = run.compression
    if "novelty" not in record.trace:
        return _not_taken(run)
    new = record.trace["novelty"]
    strip = {"values": _logarithm(new), "even": None, "unit": unit, "label": "Novelty by unit"}
    return {
        "figures": f"Unit {unit + 1}, at {float(run.seconds[unit, 0]):.2f} s, has novelty "
        f"{_short(new[unit])}; the median unit has {_short(new.median())}.",
        "strip": strip | {"note": "logarithmic"},
        "pictures": _heat(run, unit, (("novelty", "new here"),)),
    }


def _short(value: Any) -> str:
    """Format a number with three significant digits, without an exponent: 1,550."""
    rounded = float(f"{float(value):.3g}")
    return f"{rounded:,.0f}" if rounded >= 1000 else f"{rounded:g}"


def _budget(run: Run, unit: int) -> dict[str, Any]:
    record = run.compression
    if "alpha" not in record.trace:
        return _not_taken(run)
    alpha, gini = (float(record.trace[name]) for name in ("alpha", "gini"))
    kept, units = record.num_kept, record.grid[0]
    budgets = record.budgets.tolist()
    strip = {"values": budgets, "even": kept / units, "unit": unit, "label": "Tokens kept by unit"}
    return {
        "figures": f"Novelty Gini {gini:.2f} makes alpha {alpha:.2f}: of {kept:,} tokens, "
        f"{_percent(alpha)} are spread evenly, {_percent(1 - alpha)} by novelty. "
        f"Unit {unit + 1} gets {budgets[unit]}; an even share would be {kept / units:.3g}.",
        "strip": strip | {"note": "dashed: an even share"},
    }


def _choice(run: Run, unit: int) -> dict[str, Any]:
    record = run.compression
    if "joint" not in record.scores:
        return _not_taken(run)
    kept = record.mask.view(record.grid[0], -1)[unit]
    joint = record.scores["joint"].view(record.grid[0], -1)[unit][kept]
    span = f": joint score {joint.min():.2f} to {joint.max():.2f}" if len(joint) else ""
    return {
        "figures": f"Unit {unit + 1} keeps {int(kept.sum())} of {len(kept)} tokens{span}.",
        "pictures": _heat(run, unit, SCORES),
    }


def _cost(run: Run, runs: Sequence[Run], unit: int) -> dict[str, Any]:
    """Return the step on the answer's cost, compared with a run with all tokens if there is one."""
    cost, whole = run.cost, next((other for other in runs if _is_whole(other, run)), None)
    facts = [f"{cost.visual_tokens_kept:,} of {cost.visual_tokens:,} tokens"]
    if math.isfinite(cost.flops_reduction):
        facts.append(f"{_percent(cost.flops_reduction)} fewer FLOPs")
    if math.isfinite(cost.ttft_s):
        is_timed = whole is not None and math.isfinite(whole.cost.ttft_s)
        than = f", with all tokens {whole.cost.ttft_s:.3g} s" if whole and is_timed else ""
        facts.append(f"first token after {cost.ttft_s:.3g} s{than}")
    said = f" Answer: {_quoted(run)}" if run.question else ""
    than = f"; with all tokens: {_quoted(whole)}" if whole and said else ""
    return {
        "figures": f"{'; '.join(facts)}.{said}{than}",
        "pictures": [_picture("what the model reads", overlay_frame(run, unit))],
    }


def _quoted(run: Run) -> str:
    return f"“{shorten(run.answer, LONGEST, placeholder=' …')}”"


def _is_whole(other: Run, run: Run) -> bool:
    """Whether ``other`` keeps all tokens and has the same question as ``run``."""
    record = other.compression
    return other.question == run.question and record.num_kept == record.num_tokens


def _not_taken(run: Run) -> dict[str, Any]:
    return {"figures": NO_STEP.format(method=title_of(run))}


def _heat(run: Run, unit: int, scores: Sequence[tuple[str, str]]) -> list[tuple[str, str]]:
    """Return an image of each token score in one temporal unit, as a heat map over its frame."""
    pictures = []
    for name, caption in scores:
        values = run.compression.scores[name].view(run.compression.grid[0], -1)
        heat = torch.zeros_like(values)
        heat[unit] = values[unit] - values[unit].min()
        pictures.append(_picture(caption, heat_frame(run, heat.flatten(), unit)))
    return pictures


def _picture(caption: str, pixels: np.ndarray) -> tuple[str, str]:
    return caption, thumbnail(pixels, WIDTH, quality=84)


def _percent(fraction: float) -> str:
    return f"{100 * fraction:.0f} %"


def _logarithm(values: torch.Tensor) -> list[float]:
    return [round(math.log10(1 + max(0.0, value)), 4) for value in values.tolist()]
