"""The texts below runs A and B in the viewer: answer and cost."""

from __future__ import annotations

import math

from gleanvid.cost import Cost
from gleanvid.evaluation.files import finite
from gleanvid.metrics import same_answer
from gleanvid.run import Run

from ..jobs import clock
from ..jobs.display import Answer, short_name
from ..jobs.examples import Example
from ..jobs.local import BUILT_IN
from ..jobs.request import Sides
from ..jobs.store import RunStore

MIN_TIMED_TOKENS = 8  # fewest tokens of an answer for which a decoding speed is shown
KNOWS_GLIMPSE = (
    "The built-in model is made for Glimpse, clips of drawn shapes as `gleanvid glimpse make` "
    "writes them. Its words about any other clip mean nothing."
)


def answers(store: RunStore, sides: Sides) -> list[Answer]:
    """Return the answers of the runs in the viewer.

    If run A or B has no answer, that of another run of the same compressor is shown, if any.
    """
    runs = {run_id: run for run_id in sides.runs if (run := store.get(run_id))}
    found = [_answer(store, run_id, run, sides, None) for run_id, run in runs.items()]
    for side, run in zip("ba", runs.values(), strict=False):
        if run.question:
            continue
        method = run.compressor.get("name")
        earlier = (
            _answer(store, other_id, other, sides, side)
            for other_id, other in runs.items()
            if other.compressor.get("name") == method
        )
        found.append(next(filter(None, earlier), None))
    return [item for item in found if item]


def _answer(
    store: RunStore, run_id: str, run: Run, sides: Sides, side: str | None
) -> Answer | None:
    if not run.question:
        return None
    example = store.example(run_id)
    return answer(
        run.answer,
        run_id,
        side,
        run=run,
        expected=example.expected(run.question) if example else None,
        stale=not sides.are_answered_by(run),
        caveat=caveat(example, run.model),
        model=run.model if sides.model not in ("", run.model) else "",
    )


def answer(
    text: str,
    run_id: str | None = None,
    side: str | None = None,
    *,
    run: Run | None = None,
    expected: str | None = None,
    running: bool = False,
    stale: bool = False,
    caveat: str = "",
    model: str = "",
) -> Answer:
    """Return an entry of the property ``answers`` of a ``MaskViewer``.

    Args:
        text: the model's words so far.
        run_id: id of the run that gave the answer, one of the viewer's ``"runs"``; None until the
            run has an id.
        side: "a" or "b": side of the viewer for an answer that still grows, or that stands in for
            the missing answer of the run on this side; else None.
        run: the run of the answer, for its question and cost.
        expected: the right answer, if known.
        running: whether more words follow; the answer is not judged yet.
        stale: whether the page now has another question or other generation options.
        caveat: warning shown in place of "right" or "wrong"; empty for none.
        model: name of the answer's model if the page has another one; the answer is stale then.
    """
    cost = run.cost if run is not None else None
    is_judged = expected is not None and not running
    entry: Answer = {
        "run": run_id,
        "side": side,
        "text": text,
        "running": running,
        "right": same_answer(text, expected or "") if is_judged else None,
        "expected": expected,
        "stale": stale or bool(model),
        "caveat": caveat,
        "question": run.question.strip() if run is not None else "",
        "ttft_s": finite(round(cost.ttft_s, 4)) if cost else None,
        "parts": clock.parts(cost) if cost else [],
        "flops_saved": finite(round(cost.flops_reduction, 4)) if cost else None,
        "tokens_per_s": finite(round(_speed(cost), 4)) if cost else None,
    }
    if model:
        entry["model"] = short_name(model)
    return entry


def _speed(cost: Cost) -> float:
    """Decoded tokens per second; NaN for answers too short to measure."""
    is_long = cost.new_tokens >= MIN_TIMED_TOKENS
    return cost.tokens_per_s if is_long and cost.tokens_per_s else math.nan


def caveat(example: Example | None, model: str) -> str:
    """Return a warning if the built-in model answers about a clip it is not made for, else ""."""
    known = example is not None and example.is_glimpse
    return "" if known or model != BUILT_IN else KNOWS_GLIMPSE
