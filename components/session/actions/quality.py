"""Quality of a compressor's answers: fraction right, or agreement with all tokens."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import fmean
from typing import Any

from gleanvid.evaluation.tables.statistics import Estimate, student_mean, wilson
from gleanvid.metrics import agreement, same_answer


def quality(
    answers: Sequence[str],
    truths: Sequence[str | None],
    references: Sequence[str],
    clips: Sequence[str] = (),
) -> dict[str, Any] | None:
    """Return the quality of answers, a number in [0, 1]; None if nothing is known of them.

    If right answers (``truths``) are known, it is the fraction of right answers, with a confidence
    interval. Otherwise it is the mean agreement with ``references``, the answers with all tokens.
    ``clips``: name of the clip of each question.
    """
    places = clips or [""] * len(answers)
    verdicts = [
        (same_answer(answer, truth), clip)
        for answer, truth, clip in zip(answers, truths, places, strict=False)
        if truth is not None
    ]
    if verdicts:
        found = fraction_right(*zip(*verdicts, strict=True))
        counts = {"right": sum(right for right, _ in verdicts), "of": len(verdicts)}
        return counts | {"value": found.value, "low": found.low, "high": found.high}
    alike = [agreement(*pair) for pair in zip(answers, references, strict=False)]
    return {"value": fmean(alike)} if alike else None


def fraction_right(verdicts: Sequence[bool], clips: Sequence[str]) -> Estimate:
    """Return the fraction of right answers with its 95 % confidence interval.

    For a single clip it is Wilson's interval. Questions about one clip are not independent. So for
    several clips the interval also covers Student's interval over the clips, each weighted by its
    number of questions.
    """
    found = wilson(sum(verdicts), len(verdicts))
    groups = {
        clip: [v for v, of in zip(verdicts, clips, strict=True) if of == clip] for clip in clips
    }
    if len(groups) == 1:
        return found
    usual = len(verdicts) / len(groups)  # mean number of questions per clip
    by_clip = student_mean(
        [found.value + (sum(right) - found.value * len(right)) / usual for right in groups.values()]
    )
    return Estimate(
        found.value, max(0.0, min(found.low, by_clip.low)), min(1.0, max(found.high, by_clip.high))
    )
