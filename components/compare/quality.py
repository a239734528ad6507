"""Quality of a compressor's answers: fraction right, or agreement with all tokens."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import fmean
from typing import Any

from gleanvid.evaluation.tables.statistics import wilson
from gleanvid.metrics import agreement, same_answer


def quality(
    answers: Sequence[str], truths: Sequence[str | None], references: Sequence[str]
) -> dict[str, Any] | None:
    """Return the quality of answers as "value" in [0, 1]; None if nothing is known of them.

    If right answers (``truths``) are known, it is the fraction of right answers, with its counts
    ("right", "of") and 95 % interval ("low", "high"). Otherwise it is the mean agreement with
    ``references``, the answers with all tokens.
    """
    verdicts = [
        same_answer(answer, truth)
        for answer, truth in zip(answers, truths, strict=False)
        if truth is not None
    ]
    if verdicts:
        found = wilson(sum(verdicts), len(verdicts))
        counts = {"right": sum(verdicts), "of": len(verdicts)}
        return counts | {"value": found.value, "low": found.low, "high": found.high}
    alike = [agreement(*pair) for pair in zip(answers, references, strict=False)]
    return {"value": fmean(alike)} if alike else None
