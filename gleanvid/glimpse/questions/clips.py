"""Glimpse clips in memory: the video, what is asked about it, and which tokens hold the answer."""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

from gleanvid.glimpse.questions.questions import Question, questions
from gleanvid.glimpse.world.render import coverage, render
from gleanvid.glimpse.world.scenes import sample_scene
from gleanvid.glimpse.world.world import ClipSettings, stream
from gleanvid.types import Video

FPS = 8.0  # frames per second of a clip, on the screen and in its timestamps
_VISIBLE = 0.12  # share of a token's rectangle that an object must cover


def make_video(seed: int, split: str, index: int, settings: ClipSettings | None = None) -> Video:
    """One clip of the world as if it had been read from a file of 8 frames a second."""
    settings = settings or ClipSettings()
    frames, _ = render(sample_scene(seed, split, index, settings))
    return Video.from_frames(frames, FPS, clip_name(seed, split, index, settings.version))


def clip_name(seed: int, split: str, index: int, version: int = 1) -> str:
    """ "glimpse-0-test-00012"; of version 2 "glimpse2-0-test-00012"."""
    world = "glimpse" if version == 1 else f"glimpse{version}"
    return f"{world}-{seed}-{split}-{index:05d}"


def ask_about(
    seed: int, split: str, index: int, settings: ClipSettings | None = None
) -> list[Question]:
    """The questions of one clip, in the wordings that belong to it."""
    settings = settings or ClipSettings()
    scene = sample_scene(seed, split, index, settings)
    return questions(scene, stream(seed, split, index, purpose=1, version=settings.version))


def evidence_mask(
    seed: int,
    split: str,
    index: int,
    settings: ClipSettings | None,
    question: Question,
    grid: tuple[int, int, int],
) -> Tensor:
    """bool [T * rows * columns]: tokens on what the question is about, while it shows the answer.

    Frames are shared out evenly over the T units of ``grid``, the picture over rows and columns.
    """
    return evidence_by_thing(seed, split, index, settings, question, grid).any(0)


def evidence_by_thing(
    seed: int,
    split: str,
    index: int,
    settings: ClipSettings | None,
    question: Question,
    grid: tuple[int, int, int],
) -> Tensor:
    """bool [things, T * rows * columns]: the same tokens, a row for each thing asked about."""
    scene = sample_scene(seed, split, index, settings)
    shares = coverage(scene, *grid[1:])  # [F, K, rows, columns]
    times = scene.times()
    units = (times * grid[0]).astype(int)
    things = list(dict.fromkeys(part.thing for part in question.evidence))
    mask = np.zeros((len(things), *grid), dtype=bool)
    for part in question.evidence:
        for f in np.flatnonzero((times >= part.start) & (times < part.end)):
            mask[things.index(part.thing), units[f]] |= shares[f, part.thing] > _VISIBLE
    return torch.from_numpy(mask.reshape(len(things), -1))
