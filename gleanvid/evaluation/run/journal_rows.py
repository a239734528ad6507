"""Type checks of a journal's rows, before anything is computed from them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

LARGEST = 1e18
# phases of answering one question, as named in the entry "phases" of a journal row
PHASES = ("preprocess", "vision", "compress", "prefill", "generate")


def is_clip_row(row: Mapping[str, Any]) -> bool:
    numbers: list[Any] = [row.get("tokens"), row.get("kept")]
    saturated = row.get("saturated", [0, 1])
    return (
        isinstance(row.get("file"), str)
        and _numbers(numbers)
        and 0 <= numbers[1] <= numbers[0]
        and numbers[0] >= 1
        and _numbers(saturated, 2)
        and saturated[1] > 0
    )


def is_lmms_row(row: Mapping[str, Any]) -> bool:
    said = row.get("said")
    names = ("new_tokens", "prefill_s", "compress_s", "generate_s", "peak_memory_mib")
    return (
        isinstance(said, dict)
        and all(isinstance(text, str) for text in said.values())
        and _numbers([row.get(name) for name in names])
    )


def is_answer_row(row: Mapping[str, Any], ways: int) -> bool:
    """Return whether a row is a valid ``AnswerRow`` with verdicts for ``ways`` response modes."""
    saturated = row.get("saturated", [0, 1])
    pairs = [row.get(name, [1, 1]) for name in ("things", "moments")]
    evidence = row.get("evidence", [1, 1, 1])
    return (
        _numbers(row.get("right"), ways)
        and _numbers(row.get("tokens"), 3)
        and row["tokens"][0] > 0
        and _numbers([row.get("seconds")])
        and _numbers(saturated, 2)
        and saturated[1] > 0
        and all(_numbers(pair, 2) and pair[0] > 0 for pair in pairs)
        and _numbers(row.get("relevance", [0, 0, 0]), 3)
        and _is_timed(row)
        and _numbers(evidence)
        and len(evidence) in (3, 4)
        and evidence[0] > 0
        and evidence[3:] != [0]
    )


def _is_timed(row: Mapping[str, Any]) -> bool:
    """Whether a row has either no phases, or the seconds of each phase and the peak memory."""
    phases = row.get("phases")
    if phases is None:
        return True
    known = isinstance(phases, dict) and phases.keys() == {*PHASES}
    return known and _numbers([*phases.values(), row.get("peak_memory_mib")])


def _numbers(values: Any, count: int | None = None) -> bool:
    return (
        isinstance(values, list)
        and count in (None, len(values))
        and all(isinstance(one, int | float) and abs(one) < LARGEST for one in values)
    )
