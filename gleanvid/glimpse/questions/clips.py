"""Glimpse clips in memory: the video, its questions, and which tokens hold an answer."""

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
_VISIBLE = 0.12  # fraction of a token's rectangle that an object covers if the token is evidence


def make_video(seed: int, split: str, index: int, settings: ClipSettings | None = None) -> Video:
    """Render a Glimpse clip, as if it had been read from a file with 8 frames per second."""
    settings = settings or ClipSettings()
    frames, _ = render(sample_scene(seed, split, index, settings))
    return Video.from_frames(frames, FPS, clip_name(seed, split, index, settings.version))


def clip_name(seed: int, split: str, index: int, version: int = 1) -> str:
    """Return a name such as "glimpse-0-test-00012"; "glimpse2-..." in version 2."""
    world = "glimpse" if version == 1 else f"glimpse{version}"
    return f"{world}-{seed}-{split}-{index:05d}"


def ask_about(
    seed: int, split: str, index: int, settings: ClipSettings | None = None
) -> list[Question]:
    settings = settings or ClipSettings()
    scene = sample_scene(seed, split, index, settings)
    return questions(scene, stream(seed, split, index, purpose=1, version=settings.version))


def evidence_by_thing(
    seed: int,
    split: str,
    index: int,
    settings: ClipSettings | None,
    question: Question,
    grid: tuple[int, int, int],
) -> Tensor:
    """Return, for each thing in the question's evidence, a mask of the tokens that show it.

    A token counts only in frames within the times of the evidence. The result is bool
    [things, T * rows * columns]. The clip's frames are spread evenly over the T units of ``grid``,
    and each frame over its rows and columns.
    """
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
