"""Measure comparable times: the median of several passes, and a warning on a busy machine.

A pass answers the question once, up to the first token. Its stages are those in ``PARTS``.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import replace
from statistics import median

import torch

from gleanvid.cost import Cost
from gleanvid.run import Run
from gleanvid.serving.vllm import SCHEME

from .recorded import PREFIX

PASSES = 5  # maximum number of timed passes; the first is that of the answer itself
PASSES_S = 2.0  # maximum time of the passes after the first, all together, in seconds
# stages before the first token: name on the page -> field of the cost
PARTS = {"read": "decode_s", "encode": "encode_s", "compress": "compress_s", "prefill": "prefill_s"}


def can_repeat(model: str) -> bool:
    """Return whether the same question can be asked again to measure its time again.

    A vLLM server has cached the prompt, so it would be faster the second time. A recording only
    replays the time of the recorded answer.
    """
    return not model.startswith((SCHEME, PREFIX))


def repeated(run: Run, again: Callable[[], Run]) -> Run:
    """Return ``run`` with the median times of several passes up to the first token.

    ``again`` makes one more pass and returns its run. The new run's ``made_with["first_token_s"]``
    lists the time to the first token of every pass. A model that takes seconds for a pass is not
    run again.
    """
    passes, began = [run.cost], time.monotonic()
    spent = run.cost.compress_s + run.cost.prefill_s
    while len(passes) < PASSES and time.monotonic() - began + spent < PASSES_S:
        passes.append(again().cost)
    return replace(
        run,
        cost=replace(
            run.cost,
            compress_s=median(cost.compress_s for cost in passes),
            prefill_s=median(cost.prefill_s for cost in passes),
        ),
        made_with={**run.made_with, "first_token_s": [cost.ttft_s for cost in passes]},
    )


def parts(cost: Cost) -> list[tuple[str, float]]:
    """Return the name and seconds of each measured stage."""
    named = ((name, getattr(cost, field)) for name, field in PARTS.items())
    return [(name, seconds) for name, seconds in named if math.isfinite(seconds) and seconds > 0]


def spread(run: Run) -> tuple[float, float, int] | None:
    """Return the shortest and longest time to first token, and the number of passes.

    Returns None if the run was timed once only.
    """
    passes = run.made_with.get("first_token_s") or ()
    return (min(passes), max(passes), len(passes)) if len(passes) > 1 else None


def busy() -> str:
    """Return a warning if the machine is too busy for reliable times, else an empty text."""
    from gleanvid.evaluation.provenance import caution, describe_machine

    return " ".join(caution(describe_machine(torch.device("cpu"))))
