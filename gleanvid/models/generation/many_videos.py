"""Answer a question about several videos in one prompt; compress each video separately."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import Tensor

from gleanvid.compressors.base import Compressor
from gleanvid.cost import Answer
from gleanvid.models import boundary
from gleanvid.models.cost.measure import ADVICE, explaining_out_of_memory
from gleanvid.models.generation.answering import write_answer
from gleanvid.models.generation.context import check_context
from gleanvid.models.generation.sampling import GREEDY, Sampling
from gleanvid.models.generation.text import split_after, with_text_behind
from gleanvid.types import Compression, ModelError, Video

PER_COLUMN = frozenset({"input_ids", "attention_mask", "mm_token_type_ids"})


@dataclass(frozen=True, eq=False)
class Part:
    """One video of the prompt.

    Args:
        by_layer: layer of a compression stage -> the compression record of this video.
        grid: (T temporal units, rows, columns) of its tokens before compression.
        seconds: [T, 2], first and last second of each unit.
        rectangles: [N, 4], those of the N = rows * columns tokens of a unit, in source pixels.
    """

    by_layer: dict[int, Compression]
    grid: tuple[int, int, int]
    seconds: Tensor
    rectangles: Tensor


@torch.no_grad()
def answer_about(
    model: Any,
    videos: Sequence[Video],
    question: str,
    compressor: Compressor,
    sampling: Sampling = GREEDY,
    max_pixels: int | None = None,
    *,
    on_text: Callable[[str], None] | None = None,
    stop: threading.Event | None = None,
) -> tuple[Answer, list[Part]]:
    """Answer a question about several videos; return the answer and a :class:`Part` per video.

    No encoded video is stored for later questions, so ``prefill_s`` includes the vision tower.
    ``max_pixels`` is a bound on the pixels of each video. Raises ``ModelError`` if memory runs out,
    or if the model's family reads several videos as one.
    """
    layout = model.layout
    with (
        model.lock,
        explaining_out_of_memory(ADVICE),
        layout.in_chunks(),
        boundary.compressing(model.hf_model, layout, compressor) as record,
    ):
        inputs, places = _prompt(model, videos, question, max_pixels)
        if len(layout.grids(inputs)) != len(videos):
            raise ModelError(f"{model.name} reads the frames of several videos as one video.")
        length = inputs["input_ids"].shape[1]
        visual = sum(grid[0] * grid[1] * grid[2] for grid, _, _ in places)
        check_context(model.context, length, visual, compressor)
        answer = write_answer(model, inputs, record, length, sampling, on_text=on_text, stop=stop)
        stages = record.stages
    parts = []
    for number, (grid, seconds, rectangles) in enumerate(places):
        own = {layer: rows[0][number].to("cpu") for layer, rows in stages.items()}
        parts.append(Part(own, grid, seconds.cpu(), rectangles.cpu()))
    return replace(answer, by_layer={}), parts


def _prompt(
    model: Any, videos: Sequence[Video], question: str, max_pixels: int | None
) -> tuple[dict[str, Any], list[Any]]:
    """Return the model inputs of the prompt, and the result of ``place_tokens`` for each video.

    The processor is called once per video, with the text between the previous video and this one.
    """
    limit = model.max_pixels if max_pixels is None else max_pixels
    rest = model.chat_text(videos, question, ())
    parts, places = [], []
    for number, video in enumerate(videos):
        text, rest = split_after(rest, model.video_token)
        made = model.build_inputs(video, (model.outro if number else "") + text, limit)
        inputs = model.without_outro(made)
        places.append(model.place_tokens(video, inputs))
        parts.append(_without_start(model, inputs) if number else inputs)
    encoding = model.processor.tokenizer(
        model.anchor + model.outro + rest, add_special_tokens=False, return_tensors="pt"
    )
    inputs = with_text_behind(_joined(model, parts), encoding["input_ids"][:, 1:])
    dtype, device = model.hf_model.dtype, model.device

    def on_device(value: Any) -> Any:
        if not isinstance(value, Tensor):
            return value
        return value.to(device, dtype if value.is_floating_point() else None)

    return {name: on_device(value) for name, value in inputs.items()}, places


def _without_start(model: Any, inputs: Mapping[str, Any]) -> dict[str, Any]:
    """Remove the begin-of-text token, which the processor adds to the text of every video."""
    begins = model.processor.tokenizer.bos_token_id
    first = int(inputs["input_ids"][0, 0])
    cut = int(begins is not None and first == begins)
    return {n: value[:, cut:] if n in PER_COLUMN else value for n, value in inputs.items()}


def _joined(model: Any, parts: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Concatenate the tokens and pixels of all parts of a prompt (one per video)."""
    joined: dict[str, Any] = {}
    for name, first in parts[0].items():
        values = [part[name] for part in parts]
        if not isinstance(first, Tensor):
            joined[name] = [item for value in values for item in value]
            continue
        packed = model.layout.joined and name == model.pixel_input
        with suppress(RuntimeError):
            joined[name] = torch.cat(values, 1 if name in PER_COLUMN else -1 if packed else 0)
        if name not in joined:
            raise ModelError(
                f"{model.name} needs the same number and size of frames in all videos of a prompt."
            )
    return joined
