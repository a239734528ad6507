"""Notice prompts whose frame times are those that processors assume without metadata."""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import torch
from torch import nn

from gleanvid.models.families.announced import runs_of
from gleanvid.models.hooks import Layout

ASSUMED_FPS = 24
WARNING = (
    "the frame times of this prompt are those of 24 frames a second, which processors assume "
    "without video_metadata; if your frames are further apart, the model is told wrong times: make "
    "its inputs with gleanvid.processor_kwargs"
)
_TIME = re.compile(r"(?:(\d+):)?(\d+(?:\.\d+)?)\D*$")  # the last one of a text; minutes first
_NEAR = 24  # tokens before a frame in which its time is


@contextmanager
def warning_of_assumed_times(layout: Layout, tokenizer: Any) -> Iterator[None]:
    """Warn of prompts with assumed frame times while the block runs.

    ``tokenizer``: reads times that are written as text; None: only those that are tensors.
    """

    def look(module: nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        if are_assumed(kwargs, layout.video_token_id, tokenizer):
            warnings.warn(WARNING, stacklevel=2)

    with layout.core.register_forward_pre_hook(look, with_kwargs=True):
        yield


def are_assumed(inputs: Mapping[str, Any], placeholder: int, tokenizer: Any) -> bool:
    """Return whether the times in the first prompt of ``inputs`` are those of 24 frames a second.

    ``placeholder``: id of a visual token.
    """
    seconds, ids = inputs.get("second_per_grid_ts"), inputs.get("input_ids")
    if seconds is not None:  # of two frames
        return bool((torch.as_tensor(seconds) * ASSUMED_FPS - 2).abs().max() < 0.01)
    if tokenizer is None or ids is None or ids.shape[1] == 1:
        return False
    prompt = ids[0].tolist()
    starts = [start for start, _ in runs_of(prompt, placeholder)][1:]
    texts = (tokenizer.decode(prompt[max(0, start - _NEAR) : start]) for start in starts)
    found = [_TIME.search(text) for text in texts]
    if len(found) < 3 or not all(found):
        return False
    times = [60 * int(one[1] or 0) + float(one[2]) for one in found if one]
    rounding = 0.1 if any("." in one[2] for one in found if one) else 1.0
    return any(
        all(
            -0.1 < number * frames / ASSUMED_FPS - time < rounding
            for number, time in enumerate(times, 1)
        )
        for frames in (1, 2)
    )
