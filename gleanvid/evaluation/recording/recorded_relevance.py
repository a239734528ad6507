"""Relevance in a recording: one map for each question.

A map says how much the model's answer with all tokens rests on each visual token.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from torch import Tensor

from gleanvid.attribution.measure import WAYS, measure
from gleanvid.attribution.relevance import Relevance
from gleanvid.models.base import ModelAdapter
from gleanvid.models.encoded import Encoded
from gleanvid.models.generation.sampling import Sampling


def measure_each(
    model: ModelAdapter, encoded: Encoded, questions: Sequence[str], max_new_tokens: int
) -> list[Relevance]:
    """Answer each question with all tokens, and measure the relevance map of that answer.

    Raises ``ModelError`` if the model cannot compute gradients, or if memory runs out.
    """
    sampling = Sampling(max_new_tokens)
    own = [model.generate(encoded, question, None, sampling).text for question in questions]
    asked = zip(questions, own, strict=True)
    return [measure(model, encoded, question, answer) for question, answer in asked]


def named(number: int) -> str:
    """Return the name of the tensor with the relevance map of question ``number``."""
    return f"relevance/{number}"


def read_relevance(
    facts: Mapping[str, Any], tensors: Mapping[str, Tensor], grid: tuple[int, int, int]
) -> tuple[Relevance, ...]:
    """Return the recorded relevance maps. Raises ``ValueError`` if one is damaged."""
    return tuple(
        _read(told, tensors[named(number)], grid)
        for number, told in enumerate(facts.get("relevance", ()))
    )


def _read(told: Mapping[str, Any], values: Tensor, grid: tuple[int, int, int]) -> Relevance:
    texts = [told[name] for name in ("question", "answer", "method")]
    numbers = [float(told[name]) for name in ("log_probability", "seconds")]
    if not all(isinstance(text, str) for text in texts) or texts[2] not in WAYS:
        raise ValueError("recorded relevance lacks its question, answer or method")
    if float(values.min()) < 0 or abs(float(values.sum()) - 1) > 1e-3:
        raise ValueError("recorded relevance must be at least 0 with a sum of 1")
    if not all(map(math.isfinite, numbers)):
        raise ValueError("recorded relevance contains NaN or infinite values")
    return Relevance(values, grid, texts[0], texts[1], numbers[0], texts[2], numbers[1])
