"""One answer as a side of the viewer shows it: small enough to be sent with every word."""

from __future__ import annotations

import math
from typing import Any

from gleanvid.metrics import same_answer
from gleanvid.run import Run


def answer(
    text: str,
    run_id: str | None = None,
    side: str | None = None,
    *,
    run: Run | None = None,
    expected: str | None = None,
    running: bool = False,
    stale: bool = False,
) -> dict[str, Any]:
    """An entry of the prop ``answers`` of a ``MaskViewer``.

    Args:
        text: the model's words so far.
        run_id: id of the run that gave it, one of the value's ``"runs"``; None while there is none.
        side: "a" or "b", where it is shown while it streams or once its run is not on show.
        run: brings the line of cost.
        expected: the right answer where it is known; without one, B is held against A.
        running: more words follow; no verdict is given yet.
        stale: the controls show other settings than those it was given under.
    """
    cost = run.cost if run is not None else None
    judged = expected is not None and not running
    return {
        "run": run_id,
        "side": side,
        "text": text,
        "running": running,
        "right": same_answer(text, expected or "") if judged else None,
        "expected": expected,
        "stale": stale,
        "ttft_s": _figure(cost.ttft_s) if cost else None,
        "flops_saved": _figure(cost.flops_reduction) if cost else None,
        "tokens_per_s": _figure(cost.tokens_per_s) if cost else None,
    }


def _figure(value: float) -> float | None:
    """None where it was not measured: JSON knows no NaN."""
    return round(float(value), 4) if math.isfinite(value) else None
