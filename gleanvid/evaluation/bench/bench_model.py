"""Cost of one question about one video under each compressor, compared with full tokens.

Costs are the seconds of preprocessing, vision encoding, compression, prefill (prompt to first
token) and generation (first token to last), peak memory, throughput, tokens, and the language
model's multiply-accumulates. Batch size is 1. Results are medians over repeats after a warm-up.
Every repeat runs all methods, so that drift of the machine affects all of them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from statistics import median
from typing import Any, TypedDict

import numpy as np

from gleanvid.compressors.base import Compressor
from gleanvid.compressors.full_tokens import FullTokens
from gleanvid.evaluation.provenance import Machine, describe_machine
from gleanvid.evaluation.run.journal import REFUSAL
from gleanvid.evaluation.run.phases import ItemCost, measure_item
from gleanvid.models.base import ModelAdapter
from gleanvid.types import Video

QUESTION = "What happens in the video? Answer with the option's letter from the given choices."


def made_up_video(num_frames: int, height: int = 720, width: int = 1280) -> Video:
    """Make a clip of two drifting scenes with a cut and noise, one frame every two seconds.

    As in a real clip, some frames hold more new content than others.
    """
    random = np.random.default_rng(0)
    scenes = random.integers(0, 256, (2, height // 16 + 2, width // 16 + 2, 3), dtype=np.uint8)
    frames = np.empty((num_frames, height, width, 3), np.uint8)
    for number in range(num_frames):
        coarse = scenes[int(number >= 0.6 * num_frames)]
        large = coarse.repeat(16, 0).repeat(16, 1)
        shift = number % 16
        frames[number] = large[shift : shift + height, shift : shift + width]
        frames[number] += random.integers(0, 8, (height, width, 1), dtype=np.uint8)
    return Video.from_frames(frames, fps=0.5, name="made up")


class Report(TypedDict):
    """What ``gleanvid bench model`` writes as JSON.

    Each entry of ``rows`` has the results of one method on one video: ``num_frames``, the method's
    settings in ``compressor``, and an ``error`` if it failed. Otherwise it has the median of every
    field of :class:`ItemCost`, the seconds of every repeat in ``samples``, and in ``relative`` the
    medians divided by those with full tokens.
    """

    machine: Machine
    model: dict[str, Any]
    settings: dict[str, Any]
    rows: list[dict[str, Any]]


def measure(
    model: ModelAdapter,
    videos: Sequence[Video],
    methods: Sequence[Compressor],
    *,
    new_tokens: int = 16,
    repeats: int = 5,
    warmup: int = 2,
) -> Iterator[Report]:
    """Yield the report so far after every video; the last one is complete.

    It has a row for every video and method, full tokens first. If a method fails, its row has an
    ``error``. Raises ``ModelError`` for a model that cannot answer.
    """
    model.check_can_answer()
    rows: list[dict[str, Any]] = []
    report: Report = {
        "machine": describe_machine(model.device),
        "model": _facts(model),
        "settings": {
            "new_tokens": new_tokens,
            "repeats": repeats,
            "warmup": warmup,
            "batch_size": 1,
            "question": QUESTION,
            "frame_size": list(videos[0].frames.shape[1:3]) if videos else [],
        },
        "rows": rows,
    }
    for video in videos:
        chosen = [FullTokens(), *(m for m in methods if not isinstance(m, FullTokens))]
        items, errors = _rounds(model, video, chosen, new_tokens, repeats, warmup)
        measured = [
            _row(len(video), method, items[place], errors[place])
            for place, method in enumerate(chosen)
        ]
        for row in measured:
            _relate(row, measured[0])
        rows += measured
        yield report


def failed(row: Mapping[str, Any]) -> bool:
    """Whether a row has an error that is not a compressor's ``ValueError`` for its settings."""
    full = row["compressor"]["name"] == FullTokens.name
    return "error" in row and (full or not row["error"].startswith(REFUSAL))


def _facts(model: ModelAdapter) -> dict[str, Any]:
    weights = list(model.hf_model.parameters())
    return {
        "name": model.name,
        "parameters": sum(weight.numel() for weight in weights),
        "weights_mib": sum(weight.numel() * weight.element_size() for weight in weights) / 2**20,
        "dtype": str(model.hf_model.dtype).removeprefix("torch."),
        "attention": model.hf_model.config._attn_implementation,
    }


def _rounds(
    model: ModelAdapter,
    video: Video,
    methods: Sequence[Compressor],
    new_tokens: int,
    repeats: int,
    warmup: int,
) -> tuple[list[list[ItemCost]], list[str]]:
    """Return the measurements of each method after the warm-up, and its error ("" is none)."""
    items: list[list[ItemCost]] = [[] for _ in methods]
    errors = [""] * len(methods)
    for round_number in range(warmup + repeats):
        for place, method in enumerate(methods):
            if errors[place]:
                continue
            try:
                item, _ = measure_item(model, video, method, QUESTION, new_tokens)
            except Exception as error:
                errors[place] = f"{type(error).__name__}: {error}"[:500]
                continue
            if round_number >= warmup:
                items[place].append(item)
    return items, errors


def _row(
    num_frames: int, method: Compressor, items: Sequence[ItemCost], error: str
) -> dict[str, Any]:
    row: dict[str, Any] = {"num_frames": num_frames, "compressor": method.settings()}
    if error:
        return row | {"error": error}
    every = [asdict(item) | {"first_token_s": item.first_token_s} for item in items]
    medians = {name: median(one[name] for one in every) for name in every[0]}
    medians["throughput"] = 1.0 / medians["total_s"]  # questions per second
    seconds = {name: [one[name] for one in every] for name in every[0] if name.endswith("_s")}
    return row | medians | {"samples": seconds}


def _relate(row: dict[str, Any], full: dict[str, Any]) -> None:
    """Add ``relative``: every cost divided by that of full tokens in the same run."""
    if "error" in row or "error" in full:
        return
    names = [name for name in full if name.endswith(("_s", "_mib", "_flops"))]
    row["relative"] = {n: row[n] / full[n] for n in [*names, "throughput"] if full[n]}
    both = [one["compress_s"] + one["prefill_s"] for one in (row, full)]
    row["relative"]["compress_and_prefill_s"] = both[0] / both[1]
