"""Settings of a training run, its phases, and the clips of each step."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from transformers import PreTrainedTokenizerFast

from gleanvid.glimpse.training.architecture import CELL
from gleanvid.glimpse.training.batches import Batch, make_clip, pack
from gleanvid.glimpse.world.world import FRAMES_PER_UNIT, ClipSettings, stream

_TOKENS_PER_QUESTION = 20
_MOST_CLIPS = 4096  # largest number of clips in a batch; batch n begins with clip n * _MOST_CLIPS


@dataclass(frozen=True)
class TrainSettings:
    """All settings that decide the trained weights, except ``Pace.steps`` and ``Pace.cooling``."""

    seed: int = 0
    learning_rate: float = 1e-3
    weight_decay: float = 0.02
    warm_up: int = 100  # steps of rising learning rate: at the start, and when a phase adds losses
    token_budget: int = 1600  # limit on the visual and question tokens of a batch; see ``Batches``
    seen_weight: float = 1.0  # weight of the loss on what each visual token shows
    past_weight: float = 0.5  # weight of the loss on what has happened at each visual token
    pointing_weight: float = 0.3  # weight of the loss on attention to tokens that show the answer
    look_every: int = 1  # train the vision tower at every n-th step only, to save time
    bfloat16: bool = True  # use bfloat16 if the device supports it
    start_from: str = ""  # directory of the model with whose weights a run begins
    first_step: int = 0  # number of the first step, for a run that begins with trained weights


@dataclass(frozen=True)
class Pace:
    """How a training run is executed; only ``steps`` and ``cooling`` affect its weights."""

    steps: int = 6000
    cooling: float = 0.25  # fraction of the steps over which the learning rate falls to 0
    workers: int = 1
    device: str = "cpu"
    validate_every: int = 500  # steps between two validations
    save_every: int = 100


@dataclass(frozen=True)
class Phase:
    """A part of the training: which clips and how many questions it uses.

    For every batch, a frame size is drawn from ``sizes`` and a clip length from ``units``.
    """

    name: str
    begins: int  # first step of the phase
    sizes: tuple[tuple[int, int], ...]  # height and width in px
    units: tuple[int, ...]  # clip lengths in units of two frames
    asked: int = 0  # largest number of questions per clip; 0: learn only what each token shows
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


def phase_of(step: int) -> tuple[Phase, int]:
    """Return the phase of a step, and how many steps of it have passed."""
    phase = [phase for phase in PHASES if phase.begins <= step][-1]
    return phase, step - phase.begins


@dataclass(frozen=True)
class Batches:
    """The batches of a split. A batch depends on ``seed`` and its number alone.

    Training step n uses batch n; the phase of the step decides its clips. ``budget``: limit on the
    visual and question tokens in a batch; but a batch has at least two clips.
    """

    seed: int
    split: str
    budget: int
    tokenizer: PreTrainedTokenizerFast

    def __getitem__(self, number: int) -> Batch:
        phase, _ = phase_of(number)
        rng = stream(self.seed, self.split, number, purpose=2)
        height, width = phase.sizes[rng.integers(len(phase.sizes))]
        units = phase.units[rng.integers(len(phase.units))]
        tokens = units * (height // CELL) * (width // CELL)
        count = self.budget // (tokens + _TOKENS_PER_QUESTION * phase.asked)
        count = min(_MOST_CLIPS, max(2, count))
        settings = ClipSettings(height, width, FRAMES_PER_UNIT * units)
        worse, first = self.split == "train", number * _MOST_CLIPS
        clips = [
            make_clip(self.seed, self.split, first + i, settings, worse, phase.asked)
            for i in range(count)
        ]
        return pack(clips, self.tokenizer)


def computes_bfloat16(device: torch.device) -> bool:
    """Whether a device computes in bfloat16. CPUs that only emulate it are faster in float32."""
    return device.type != "cpu" or bool(torch.cpu._is_avx512_bf16_supported())
