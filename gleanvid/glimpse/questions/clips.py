"""Glimpse clips in memory: the video, its questions, and the tokens that show an answer."""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

from gleanvid.glimpse.questions.questions import Question, questions
from gleanvid.glimpse.world.render import coverage, render
from gleanvid.glimpse.world.scenes import sample_scene
from gleanvid.glimpse.world.world import ClipSettings, stream
from gleanvid.types import Video

FPS = 8.0  # frames per second of a clip
# A token is evidence of an answer if an object covers more than this fraction of its rectangle.
_VISIBLE = 0.12


def make_video(seed: int, split: str, index: int, settings: ClipSettings | None = None) -> Video:
    """Render clip ``index`` of a split ("train", "validation", "test") at 8 frames per second."""
    frames = render(sample_scene(seed, split, index, settings))
    return Video.from_frames(frames, FPS, clip_name(seed, split, index))


def clip_name(seed: int, split: str, index: int) -> str:
    """Return a name such as "glimpse-0-test-00012"."""
    return f"glimpse-{seed}-{split}-{index:05d}"


def ask_about(
    seed: int, split: str, index: int, settings: ClipSettings | None = None
) -> list[Question]:
    return questions(sample_scene(seed, split, index, settings), stream(seed, split, index, 1))


def evidence_by_thing(
    seed: int,
    split: str,
    index: int,
    settings: ClipSettings | None,
    question: Question,
    grid: tuple[int, int, int],
) -> Tensor:
    """Return, for each object in the question's evidence, a mask of the tokens that show it.

    ``grid``: number T of temporal units, and rows and columns of tokens in each. The frames of the
    clip are spread evenly over the units. A token counts only if its unit has a frame within the
    time span of the evidence.

    Returns:
        bool [objects, T * rows * columns].
    """
    scene = sample_scene(seed, split, index, settings)
    shares = coverage(scene, *grid[1:])  # [frames, objects, rows, columns]
    times = scene.times()
    units = (times * grid[0]).astype(int)
    things = list(dict.fromkeys(part.thing for part in question.evidence))
    mask = np.zeros((len(things), *grid), dtype=bool)
    for part in question.evidence:
        for f in np.flatnonzero((times >= part.start) & (times < part.end)):
            mask[things.index(part.thing), units[f]] |= shares[f, part.thing] > _VISIBLE
    return torch.from_numpy(mask.reshape(len(things), -1))
