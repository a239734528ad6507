"""Sampling options of an answer: temperature, top-p, seed and length."""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import torch

COLDEST = 0.01  # smallest temperature above 0: its reciprocal must be finite in float16
SEEDS = 2**63  # seeds must be below this: torch's generators take 64-bit integers


@dataclass(frozen=True)
class Sampling:
    """Sampling options of an answer; checked on construction.

    Args:
        max_new_tokens: limit on the tokens of an answer; at least 1.
        temperature: 0 is greedy decoding; higher values draw tokens more evenly.
        top_p: draw from the smallest set of most likely tokens whose probabilities add up to this;
            in (0, 1].
        seed: seed of the draws; None uses the state of torch's generator.

    Raises:
        ValueError: a setting is out of its range.

    >>> Sampling(max_new_tokens=16, temperature=0.7, seed=0).greedy
    False
    """

    max_new_tokens: int = 64
    temperature: float = 0.0
    top_p: float = 1.0
    seed: int | None = None

    def __post_init__(self) -> None:
        length, temperature = self.max_new_tokens, self.temperature
        if not _is_whole(length) or length < 1:
            raise ValueError(f"max_new_tokens={length!r} must be a whole number of at least 1")
        if not _is_number(temperature) or temperature < 0:
            raise ValueError(f"temperature={temperature!r} must be a number of at least 0")
        if 0 < temperature < COLDEST:
            raise ValueError(f"temperature={temperature!r} must be 0 or at least {COLDEST:g}")
        if not _is_number(self.top_p) or not 0 < self.top_p <= 1:
            raise ValueError(f"top_p={self.top_p!r} must be in (0, 1]")
        if self.seed is not None and not (_is_whole(self.seed) and 0 <= self.seed < SEEDS):
            raise ValueError(f"seed={self.seed!r} must be a whole number in [0, {SEEDS}), or None")

    @property
    def greedy(self) -> bool:
        """True for greedy decoding, which ignores seed and top_p."""
        return self.temperature == 0


def _is_whole(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


GREEDY = Sampling()


@contextmanager
def seeded(seed: int | None, device: torch.device) -> Iterator[None]:
    """Seed torch's generators while the block runs; their state is restored afterwards."""
    if seed is None:
        yield
        return
    devices = [device] if device.type == "cuda" else []
    with torch.random.fork_rng(devices):
        torch.manual_seed(seed)
        yield
