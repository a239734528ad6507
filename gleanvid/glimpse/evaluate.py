"""Asks a trained directory the test split's questions: ``python -m gleanvid.glimpse.evaluate DIR``.

Answers come in words from the ordinary ``generate`` at a given number of frames, with all tokens or
through a compressor, and count as right when they equal the truth after normalisation.
"""

from __future__ import annotations

import argparse
import json
import math
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from gleanvid.compressors.base import Compressor
from gleanvid.compressors.full_tokens import FullTokens
from gleanvid.compressors.gleanvid import GleanVID
from gleanvid.compressors.random import Random
from gleanvid.compressors.uniform import Uniform
from gleanvid.glimpse.questions import HEADLINE, Question, normalise, questions
from gleanvid.glimpse.render import render
from gleanvid.glimpse.world import ClipSettings, sample_scene, stream
from gleanvid.models import ModelAdapter, load_model
from gleanvid.types import Video

_ASKING = 10**6  # keeps the question stream apart from the scene stream
_FPS = 8.0
_MAX_WORDS = 24  # tokens of the longest answer


def make_video(seed: int, split: str, index: int, settings: ClipSettings) -> Video:
    """One clip of the world as if it had been read from a file of 8 frames a second."""
    frames, _ = render(sample_scene(seed, split, index, settings))
    count = len(frames)
    return Video(
        frames=frames,
        timestamps=np.arange(count) / _FPS,
        indices=np.arange(count),
        fps=_FPS,
        duration=count / _FPS,
        total_frames=count,
        source_size=(settings.height, settings.width),
        name=f"glimpse {split} {index}",
    )


def ask_about(seed: int, split: str, index: int, settings: ClipSettings) -> list[Question]:
    """The questions of one clip, in the wordings that belong to it."""
    scene = sample_scene(seed, split, index, settings)
    return questions(scene, stream(seed, split, index + _ASKING))


def answers(
    model: ModelAdapter, compressor: Compressor, clips: int, settings: ClipSettings, seed: int = 0
) -> Iterator[dict[str, Any]]:
    """Every question of the first ``clips`` test clips with truth, answer and verdict."""
    for index in range(clips):
        encoded = model.encode(make_video(seed, "test", index, settings), compressor.needs)
        for question in ask_about(seed, "test", index, settings):
            given = model.generate(encoded, question.text, compressor, max_new_tokens=_MAX_WORDS)
            right = normalise(given.text) == question.answer
            yield {
                "clip": index,
                "family": question.family,
                "question": question.text,
                "answer": question.answer,
                "given": given.text,
                "right": right,
            }


def summary(rows: list[dict[str, Any]]) -> dict[str, dict[str, float]]:
    """Per family and for the headline families together: n, accuracy, 95 % interval, chance.

    Chance is the share of the commonest answer: what a model that never looks would reach.
    """
    groups: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for row in rows:
        groups[row["family"]].append(row)
    pooled = [row for family in HEADLINE for row in groups.get(family, [])]
    chance = {family: _commonest(group) for family, group in groups.items()}
    blind = sum(chance[row["family"]] for row in pooled) / max(1, len(pooled))
    table = {"colour, shape, direction": _line(pooled, blind)}
    for family in groups:
        table[family] = _line(groups[family], chance[family])
    return table


def _line(rows: list[dict[str, Any]], chance: float) -> dict[str, float]:
    n, right = len(rows), sum(row["right"] for row in rows)
    low, high = wilson(right, n)
    return {"n": n, "accuracy": right / n, "low": low, "high": high, "chance": chance}


def _commonest(rows: list[dict[str, Any]]) -> float:
    return Counter(row["answer"] for row in rows).most_common(1)[0][1] / len(rows)


def wilson(right: int, n: int, z: float = 1.96) -> tuple[float, float]:
    """95 % interval of a share (Wilson 1927)."""
    share, spread = right / n, z * z / n
    centre = share + spread / 2
    reach = z * math.sqrt(share * (1 - share) / n + spread / (4 * n))
    return (centre - reach) / (1 + spread), (centre + reach) / (1 + spread)


def main() -> None:
    """Evaluate with all tokens and with three compressors, and write JSON."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("model", help="builtin or a model directory")
    parser.add_argument("--clips", type=int, default=80)
    parser.add_argument("--frames", type=int, default=16)
    parser.add_argument("--retention-ratio", type=float, default=0.25)
    parser.add_argument("--all-tokens-only", action="store_true")
    parser.add_argument("--out", type=Path, required=True, help="folder for the results")
    given = parser.parse_args()
    ratio = given.retention_ratio
    methods: list[Compressor] = [FullTokens()]
    if not given.all_tokens_only:
        methods += [GleanVID(ratio), Uniform(ratio), Random(ratio)]
    model = load_model(given.model)
    given.out.mkdir(parents=True, exist_ok=True)
    for method in methods:
        settings = ClipSettings(num_frames=given.frames)
        rows = list(answers(model, method, given.clips, settings))
        result = {"compressor": method.settings(), "frames": given.frames, "clips": given.clips}
        result |= {"summary": summary(rows), "answers": rows}
        path = given.out / f"{method.name}_{given.frames}.json"
        path.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
