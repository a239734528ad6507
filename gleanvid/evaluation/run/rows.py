"""The rows of the journals: one result each, or the error in its place."""

from __future__ import annotations

from typing import Required, TypedDict


class Row(TypedDict, total=False):
    """What every row has."""

    item: Required[str]
    setup: Required[str]  # key of the setup
    error: str  # in place of everything else


class EvidenceCounts(TypedDict):
    """See :func:`gleanvid.evaluation.run.runner.evidence_kept`."""

    evidence: list[int]
    things: list[int]
    moments: list[int]


class AnswerRow(Row, total=False):
    """One question under one setup."""

    said: dict[str, str]  # way to respond -> response
    right: list[float]  # the verdict for each way
    tokens: list[float]  # of the clip, entering layer 0, mean over layers
    seconds: float  # compress, read and respond; encoding left out
    saturated: list[int]  # units with nothing new to add, of how many; where the method tells
    evidence: list[int]  # with the next two: EvidenceCounts, where evidence is known
    things: list[int]
    moments: list[int]


class ClipRow(Row, total=False):
    """What a compressor kept of one clip."""

    file: str
    grid: list[int]
    tokens: int
    kept: int
    budgets: list[int]
    notes: list[str]  # of reading
    seconds: dict[str, float]  # encode, compress
    saturated: list[int]


class LmmsRow(Row, total=False):
    """One request of LMMs-Eval."""

    said: dict[str, str]
    tokens: list[int]  # of the prompt, and those kept
    new_tokens: int
    seconds: float
    prefill_s: float
    compress_s: float
    generate_s: float
    peak_memory_mib: float
