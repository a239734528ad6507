"""Glimpse 2: questions about clips of a second procedural world, whose camera moves.

It has the question types of Glimpse ("families") and new ones that need more than one frame. The
table in :meth:`Glimpse2.notes` says how many questions of each type can be answered without the
clip, from the best single frame, and from shuffled frames.
"""

from __future__ import annotations

import zlib
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from gleanvid.evaluation.benchmarks.base import BenchmarkError
from gleanvid.evaluation.benchmarks.glimpse import Glimpse
from gleanvid.glimpse.questions.baselines import read, table
from gleanvid.glimpse.questions.questions import FAMILIES2
from gleanvid.glimpse.world.world import FRAMES_PER_UNIT
from gleanvid.types import Video

VIEWS = ("all", "still", "shuffled")
_ABOUT = """\
### What each family gives away

Right answers (in %) of ideal observers, which know the true contents of {num_frames} frames. They
learn from at most {learnt} questions per family of the train split and answer questions of the test
split. With all frames in order, they answer 100 % right. A family counts as one that needs
time if the observer of the best single frame answers at most 75 % right.
"""


@dataclass(frozen=True)
class Glimpse2(Glimpse):
    """Questions about version 2 of the Glimpse world, asked and judged as in ``glimpse``.

    ``view`` says what the model sees. "all" shows the frames in order. "shuffled" shows the
    temporal units (pairs of frames) in random order. "still" shows one unit again and again, the
    one at the time ``moment``, from 0 (start of the clip) to 1 (end).
    """

    name: ClassVar[str] = "glimpse2"
    columns: ClassVar[tuple[str, ...]] = FAMILIES2
    hard: ClassVar[tuple[str, ...]] = ()  # unlike Glimpse, no mean over hard question types
    version: ClassVar[int] = 2
    per_family: ClassVar[int] = 1

    view: str = "all"
    moment: float = 0.5

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.view not in VIEWS:
            raise BenchmarkError(f"view={self.view!r} must be one of {', '.join(VIEWS)}")
        if not 0 <= self.moment <= 1:
            raise BenchmarkError(f"moment={self.moment} must be from 0 to 1")

    def video(self, clip: str, num_frames: int) -> Video:
        video = super().video(clip, num_frames)
        units = len(video) // FRAMES_PER_UNIT
        if self.view == "all" or len(video) % FRAMES_PER_UNIT:
            return video
        order = np.full(units, min(units - 1, int(self.moment * units)))
        if self.view == "shuffled":
            order = np.random.default_rng(zlib.crc32(clip.encode())).permutation(units)
        pairs = video.frames.reshape(units, FRAMES_PER_UNIT, *video.frames.shape[1:])
        return replace(video, frames=pairs[order].reshape(video.frames.shape))

    def notes(self) -> str:
        facts, found = read()
        return f"{_ABOUT.format(**facts)}\n{table(found)}\n"
