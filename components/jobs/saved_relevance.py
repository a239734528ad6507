"""Saved relevance maps: how relevant each token of a Glimpse example is for an answer.

There is a map for each suggested question. ``python -m components.page.first`` measures
the maps again with the built-in model.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import torch

from gleanvid.attribution.relevance import Relevance, normalised
from gleanvid.run import Run

from ..places import ASSETS
from .examples import Example, ready
from .local import BUILT_IN

FILE = ASSETS / "first" / "relevance.npz"


def questions(example: Example) -> list[str]:
    """Return the questions of an example that have a saved map."""
    return list(dict.fromkeys([example.question, *ready(example)]))


def save(found: Iterable[tuple[Example, Relevance]], file: Path = FILE) -> None:
    """Write relevance maps to a file, as float16; ``found``: (example, map) pairs."""
    arrays: dict[str, Any] = {}
    facts = []
    for place, (example, one) in enumerate(found):
        facts.append(one.summary() | {"clip": example.path.name})
        maps = torch.stack([one.tokens, *(own for _, own in one.words)])
        arrays[str(place)] = maps.half().numpy()
    np.savez_compressed(file, facts=np.array(json.dumps(facts)), **arrays)


def saved(example: Example, question: str, run: Run, file: Path = FILE) -> Relevance | None:
    """Return the saved map of a question, or None.

    ``run`` must be by the built-in model without a pixel limit, on the map's token grid.
    """
    is_usual = run.model == BUILT_IN and not run.made_with.get("max_pixels") and example.questions
    found = _all(file).get((example.path.name, question.strip())) if is_usual else None
    return found if found and found.grid == run.compression.grid else None


@lru_cache(maxsize=2)
def _all(file: Path) -> dict[tuple[str, str], Relevance]:
    if not file.is_file():
        return {}
    content = np.load(file, allow_pickle=False)
    return {
        (facts["clip"], facts["question"]): _relevance(facts, content[str(place)])
        for place, facts in enumerate(json.loads(str(content["facts"])))
    }


def _relevance(facts: dict[str, Any], maps: np.ndarray) -> Relevance:
    whole, *words = (normalised(torch.from_numpy(row)) for row in maps)
    units, rows, columns = facts["grid"]
    return Relevance(
        whole,
        (units, rows, columns),
        facts["question"],
        facts["answer"],
        facts["log_probability"],
        facts["method"],
        facts["seconds"],
        tuple(zip(facts["words"], words, strict=True)),
    )
