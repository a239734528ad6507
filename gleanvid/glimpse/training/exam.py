"""The validation questions of version 2: always the same, and as many of each family."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from functools import lru_cache

from transformers import PreTrainedTokenizerFast

from gleanvid.glimpse.questions.questions import FAMILIES2, questions
from gleanvid.glimpse.training.batches import Batch, make_clip, pack
from gleanvid.glimpse.world.scenes import sample_scene
from gleanvid.glimpse.world.world import ClipSettings, stream

SETTINGS = ClipSettings(128, 128, 32, version=2)
_TOGETHER = 4  # clips
_PATIENCE = 6000  # clips looked through, at most


@lru_cache(maxsize=4)
def chosen(seed: int, each: int) -> tuple[tuple[int, tuple[str, ...]], ...]:
    """(number of a clip, families asked about it), until every family has ``each`` questions."""
    counts: dict[str, int] = defaultdict(int)
    found = []
    for index in range(_PATIENCE):
        scene = sample_scene(seed, "validation", index, SETTINGS)
        rng = stream(seed, "validation", index, purpose=1, version=SETTINGS.version)
        there = dict.fromkeys(question.family for question in questions(scene, rng))
        wanted = tuple(family for family in there if counts[family] < each)
        for family in wanted:
            counts[family] += 1
        if wanted:
            found.append((index, wanted))
        if all(counts[family] >= each for family in FAMILIES2):
            break
    return tuple(found)


def exam(seed: int, each: int, tokenizer: PreTrainedTokenizerFast) -> Iterator[Batch]:
    """Batches of the clips with those questions."""
    clips = chosen(seed, each)
    for first in range(0, len(clips), _TOGETHER):
        yield pack(
            [
                make_clip(seed, "validation", index, SETTINGS, False, 0, families)
                for index, families in clips[first : first + _TOGETHER]
            ],
            tokenizer,
        )
