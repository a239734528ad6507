"""The training curriculum: the clips of each step."""

from __future__ import annotations

from dataclasses import dataclass

from transformers import PreTrainedTokenizerFast

from gleanvid.glimpse.training.architecture import CELL
from gleanvid.glimpse.training.batches import Batch, make_clip, pack
from gleanvid.glimpse.world.world import FRAMES_PER_UNIT, ClipSettings, stream

_TOKENS_PER_QUESTION = 20
_MOST_CLIPS = 4096  # per batch: the numbers of one batch's clips are no other's


@dataclass(frozen=True)
class Phase:
    """``sizes`` (height, width) in px and ``units`` of two frames are drawn for every batch."""

    name: str
    begins: int  # step
    sizes: tuple[tuple[int, int], ...]
    units: tuple[int, ...]
    asked: int = 0  # questions per clip, at most; 0: the token loss alone
    first_asked: bool = False


PHASES = (
    Phase("encoder", 0, ((96, 96),), (1,)),
    Phase("pairs", 500, ((96, 96), (112, 112)), (1, 1, 2), asked=6, first_asked=True),
    Phase(
        "short", 900, ((96, 96), (96, 96), (112, 112), (96, 128)), (1, 1, 4, 4, 6, 8, 8), asked=10
    ),
    Phase(
        "long",
        4500,
        ((96, 96), (112, 112), (128, 128), (160, 160)),
        (1, 4, 8, 10, 12, 16, 16),
        asked=10,
    ),
)

PHASES2 = (  # of version 2: stories need 8 units, the one about cause 128 px
    Phase("encoder", 0, ((96, 96), (128, 128), (160, 160)), (1,)),
    Phase("pairs", 3000, ((96, 96), (112, 112)), (1, 1, 2), asked=6, first_asked=True),
    Phase("short", 3400, ((96, 96), (96, 96), (96, 112)), (1, 4, 6, 8, 8, 8), asked=10),
    Phase("long", 5000, ((96, 96), (112, 112), (128, 128)), (8, 10, 12, 16, 16), asked=10),
    Phase("full", 11000, ((112, 112), (128, 128), (160, 160)), (8, 12, 16, 16), asked=10),
)


def phase_of(step: int, version: int = 1) -> tuple[Phase, int]:
    """The phase of a step, and how many steps of it have passed."""
    phases = PHASES if version == 1 else PHASES2
    phase = [phase for phase in phases if phase.begins <= step][-1]
    return phase, step - phase.begins


@dataclass(frozen=True)
class Batches:
    """Batch number n of a split is a function of the seed and of n; ``budget`` tokens."""

    seed: int
    split: str
    budget: int
    tokenizer: PreTrainedTokenizerFast
    version: int = 1

    def __getitem__(self, number: int) -> Batch:
        phase, _ = phase_of(number, self.version)
        rng = stream(self.seed, self.split, number, purpose=2, version=self.version)
        height, width = phase.sizes[rng.integers(len(phase.sizes))]
        units = phase.units[rng.integers(len(phase.units))]
        tokens = units * (height // CELL) * (width // CELL)
        count = self.budget // (tokens + _TOKENS_PER_QUESTION * phase.asked)
        count = min(_MOST_CLIPS, max(2, count))
        settings = ClipSettings(height, width, FRAMES_PER_UNIT * units, self.version)
        worse, first = self.split == "train", number * _MOST_CLIPS
        clips = [
            make_clip(self.seed, self.split, first + i, settings, worse, phase.asked)
            for i in range(count)
        ]
        return pack(clips, self.tokenizer)
