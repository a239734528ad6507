"""Find the videos of a prompt whose frames are images, by the text that announces every frame.

The placeholders of frames and of images are the same token. Only the words before them differ, so
finding a video needs the tokenizer.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby
from typing import Any

import torch
from torch import Tensor

from gleanvid.models.hooks.layout import FramesAmongImages
from gleanvid.types import ModelError

_LONGEST = 32  # tokens of an announcement, at most
_MARK = re.compile(r"<[^<>]*>")  # special tokens around a frame


@dataclass(frozen=True, eq=False)
class FrameReader:
    """Reads prompts of one model.

    Args:
        tokenizer: turns token ids into text.
        placeholder: id of the token that stands for a visual token.
        size: number of visual tokens of a frame or image.
        announcement: regular expression of the text before a frame. A group, if it has one, is the
            number of the frame: 1 begins a video.
    """

    tokenizer: Any
    placeholder: int
    size: int
    announcement: str

    def read(self, ids: Tensor) -> FramesAmongImages:
        """Find the videos in prompts int64 [B, L]."""
        columns = torch.zeros_like(ids, dtype=torch.bool)
        frames: list[list[int]] = []
        images: list[list[bool]] = []
        for row, prompt in enumerate(ids.tolist()):
            videos: list[int] = []
            images.append([])
            for start, stop, is_frame, begins in self._runs(prompt):
                images[-1] += [is_frame] * ((stop - start) // self.size)
                if is_frame:
                    columns[row, start:stop] = True
                    if begins:
                        videos.append(0)
                    videos[-1] += 1
            frames.append(videos)
        return FramesAmongImages(columns, frames, images)

    def _runs(self, prompt: list[int]) -> Iterator[tuple[int, int, bool, bool]]:
        """Yield (start, stop, is a frame, begins a video) of every run of placeholders."""
        end, after_frame = 0, False
        for start, stop in runs_of(prompt, self.placeholder):
            said = self._announced(prompt[max(end, start - _LONGEST) : start])
            is_frame = said is not None and stop - start == self.size
            yield start, stop, is_frame, said == "first" or not after_frame
            end, after_frame = stop, is_frame

    def _announced(self, ids: list[int]) -> str | None:
        """Return which frame ``ids``, the tokens before it, announce: "first" or "next"; or None.

        It is a next one if its announcement is all they say, and its number is not 1.
        """
        text = _MARK.sub("", self.tokenizer.decode(ids)).strip()
        found = re.search(self.announcement + "$", text)
        if found is None:
            return None
        return "first" if found.start() or found.groups()[:1] == ("1",) else "next"


def runs_of(prompt: list[int], placeholder: int) -> list[tuple[int, int]]:
    """Return (start, stop) of every run of ``placeholder`` in the ids of a prompt."""
    runs = []
    for is_run, group in groupby(enumerate(prompt), lambda at: at[1] == placeholder):
        if is_run:
            places = [place for place, _ in group]
            runs.append((places[0], places[-1] + 1))
    return runs


@functools.lru_cache(maxsize=4)
def _stored(folder: str) -> Any:
    from transformers import AutoTokenizer

    try:
        return AutoTokenizer.from_pretrained(folder, local_files_only=True, trust_remote_code=False)
    except Exception:  # most families can do without it
        return None


def tokenizer_near(hf_model: Any, processor: Any) -> Any:
    """Return the tokenizer of ``processor``, or the one stored beside the weights on this machine.

    ``processor``: a processor, a tokenizer or None. Returns None if there is none.
    """
    if processor is None:
        folder = getattr(hf_model, "name_or_path", "")
        processor = _stored(folder) if folder else None
    return getattr(processor, "tokenizer", processor)


def tokenizer_of(hf_model: Any, processor: Any) -> Any:
    """Return the same as :func:`tokenizer_near`; raise ``ModelError`` if there is none."""
    tokenizer = tokenizer_near(hf_model, processor)
    if tokenizer is None:
        raise ModelError(
            f"{type(hf_model).__name__} reads the frames of a video as images, which only the text "
            "of the prompt tells apart: pass processor=processor"
        )
    return tokenizer
