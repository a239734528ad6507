"""Glimpse: questions about clips of a procedural world with known ground truth.

Nothing is downloaded: a clip is rendered from (seed, split, number). The model's answer is the
likeliest of the four option texts, or it is generated and compared with the right one word by word.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from gleanvid.evaluation.benchmarks.base import Benchmark, BenchmarkError, Item
from gleanvid.glimpse.questions.clips import ask_about, evidence_by_thing, make_video
from gleanvid.glimpse.questions.questions import FAMILIES, Question, normalise
from gleanvid.glimpse.world.world import SPLITS, ClipSettings
from gleanvid.types import Video, VideoError, VideoTokens

if TYPE_CHECKING:
    from torch import Tensor

HARD = ("order", "cut", "collision", "action", "repeats", "comparison", "relation")
QUESTIONS = 2000  # number of questions if no limit is given
_PER_CLIP = 4  # maximum number of questions about one clip
_LEAD = 1.25  # maximum number of questions of one type, relative to the mean over question types
_PATIENCE = 300  # give up after this many consecutive clips without a usable question


@dataclass(frozen=True)
class Glimpse(Benchmark):
    """Glimpse as a benchmark, with about equally many questions of each type.

    ``families``: the question types to ask (empty: all). ``clip_frames``: number of frames of a
    clip (default: the largest ``num_frames`` of the evaluation). Runs with fewer frames get evenly
    spaced ones. ``blind`` makes every frame grey, to measure how many answers are right without
    the clip.
    """

    name: ClassVar[str] = "glimpse"
    how: ClassVar[str] = "likelihood"
    ways: ClassVar[tuple[str, ...]] = ("likelihood", "text")
    columns: ClassVar[tuple[str, ...]] = tuple(FAMILIES)
    macro_without: ClassVar[str] = "count"  # question type that needs tokens of every object
    hard: ClassVar[tuple[str, ...]] = HARD
    num_frames: ClassVar[int] = 32

    split: str = field(default="test", metadata={"help": f"clips of {', '.join(SPLITS)}"})
    families: tuple[str, ...] = field(default=(), metadata={"help": "types of questions to ask"})
    clip_frames: int | None = field(default=None, metadata={"help": "frames of a whole clip"})
    blind: bool = field(default=False, metadata={"help": "true: every frame is grey"})

    def __post_init__(self) -> None:
        if self.split not in SPLITS:
            raise BenchmarkError(f"split={self.split!r} must be one of {', '.join(SPLITS)}")
        for family in self.families:
            if family not in self.columns:
                raise BenchmarkError(f"family={family!r} must be one of {', '.join(self.columns)}")
        try:
            self._clip  # noqa: B018 (looked at for its error)
        except ValueError as error:
            problem = str(error).replace("num_frames", "clip_frames")
            raise BenchmarkError(f"{problem} (default: the largest num_frames)") from error

    def for_frames(self, most: int) -> Self:
        if self.clip_frames is None:
            return replace(self, clip_frames=most)
        if most > self.clip_frames:
            raise BenchmarkError(
                f"num_frames={most} must be at most clip_frames={self.clip_frames}"
            )
        return self

    @property
    def _clip(self) -> ClipSettings:
        frames = self.num_frames if self.clip_frames is None else self.clip_frames
        return ClipSettings(num_frames=frames)

    def items(self, limit: int | None = None, seed: int = 0) -> list[Item]:
        """Return the first ``limit`` (None: 2,000) questions about the clips of ``seed``.

        Raises :class:`BenchmarkError` if ``limit`` is below 1.
        """
        wanted = QUESTIONS if limit is None else limit
        if wanted < 1:
            raise BenchmarkError(f"limit={limit} must be at least 1")
        found: list[Item] = []
        asked = dict.fromkeys(self.families or self.columns, 0)
        number = fruitful = 0
        while len(found) < wanted:
            if number - fruitful > _PATIENCE:
                kinds = ", ".join(self.families) or "any family"
                raise BenchmarkError(
                    f"clips of {self._clip.num_frames} frames have no questions of {kinds}"
                )
            clip = f"{seed}/{self.split}/{number}"
            more = _balanced(_questions(clip, self._clip), asked)
            found += [_item(clip, place, question) for place, question in more]
            number += 1
            fruitful = number if more else fruitful
        return found[:wanted]

    def video(self, clip: str, num_frames: int) -> Video:
        whole = make_video(*_address(clip), self._clip)
        if self.blind:
            whole = replace(whole, frames=np.full_like(whole.frames, 128))
        if num_frames == len(whole):
            return whole
        if num_frames > len(whole):
            raise VideoError(f"num_frames={num_frames} is more than the clip's {len(whole)} frames")
        chosen = ((np.arange(num_frames) + 0.5) * len(whole) / num_frames).astype(int)
        return replace(
            whole,
            frames=whole.frames[chosen],
            timestamps=whole.timestamps[chosen],
            indices=whole.indices[chosen],
        )

    def right(self, item: Item, response: str) -> bool:
        return normalise(response) == normalise(item.right_option)

    def evidence(self, item: Item, tokens: VideoTokens) -> Tensor:
        """Return which tokens show each object asked about, bool [objects, tokens of the clip].

        A token counts only at the times at which its object shows the answer.
        """
        clip, _, place = item.id.rpartition("/")
        question = _questions(clip, self._clip)[int(place)]
        return evidence_by_thing(*_address(clip), self._clip, question, tokens.grid)


def _balanced(questions: tuple[Question, ...], asked: dict[str, int]) -> list[tuple[int, Question]]:
    """Choose up to four of a clip's ``questions``, those of the least asked types first.

    ``asked``: how many questions of each type were chosen so far, updated in place. Return pairs of
    index and question.
    """
    most = 1 + _LEAD * sum(asked.values()) / len(asked)
    left = [
        (place, q) for place, q in enumerate(questions) if asked.get(q.family, most + 1) <= most
    ]
    chosen: list[tuple[int, Question]] = []
    while left and len(chosen) < _PER_CLIP:
        best = min(left, key=lambda pair: asked[pair[1].family])
        left.remove(best)
        chosen.append(best)
        asked[best[1].family] += 1
    return chosen


def _item(clip: str, place: int, question: Question) -> Item:
    options = tuple(question.options)
    answer = options.index(question.answer)
    return Item(f"{clip}/{place}", clip, question.text, options, answer, (question.family,))


@lru_cache(maxsize=64)
def _questions(clip: str, settings: ClipSettings) -> tuple[Question, ...]:
    return tuple(ask_about(*_address(clip), settings))


def _address(clip: str) -> tuple[Any, Any, Any]:
    """Parse a clip's name into (seed, split, number)."""
    seed, split, number = clip.split("/")
    return int(seed), split, int(number)
