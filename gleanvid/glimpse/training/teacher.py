"""The teacher of the training in :mod:`.reader`, and the clips that it has encoded."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import torch
from torch import Tensor
from transformers import AutoTokenizer, Qwen3VLForConditionalGeneration

from gleanvid.glimpse.training.batches import Batch, make_clip, pack
from gleanvid.glimpse.training.curriculum import computes_bfloat16
from gleanvid.glimpse.training.learner import Learner
from gleanvid.glimpse.world.world import FRAMES_PER_UNIT, ClipSettings

_BUILTIN = Path(__file__).parents[2] / "models" / "builtin"
_SPLIT = "train"


@dataclass(frozen=True)
class ReaderSettings:
    """Settings of a training run of :mod:`.reader`.

    They decide the trained weights, together with the number of steps and of processes.
    """

    start_from: str = str(_BUILTIN)
    weights: str = ""  # directory of the model to train; empty: a copy of the teacher
    seed: int = 36
    learning_rate: float = 1e-4
    weight_decay: float = 0.01
    warm_up: int = 100  # number of steps in which the learning rate rises
    distance_weight: float = 1.0  # loss weight of the distance from the teacher; answers have 1
    questions: int = 16  # largest number of questions about a clip
    shelf: int = 100  # number of encoded clips that a process keeps in memory
    uses: int = 4  # mean number of training steps per encoded clip


@dataclass(frozen=True)
class Seen:
    """A clip that the teacher has encoded.

    ``positions``: M-RoPE positions; ``streams``: features of the visual tokens; ``opinion`` [A, V]:
    the teacher's log-probabilities for each of the A answer tokens.
    """

    batch: Batch
    positions: Tensor
    streams: list[Tensor]
    opinion: Tensor


class Teacher:
    """The model whose answers are to be learnt. It reads clips with all visual tokens."""

    def __init__(self, settings: ReaderSettings) -> None:
        self.settings = settings
        self.learner, self.tokenizer = load(settings.start_from)
        self.in_bfloat16 = computes_bfloat16(torch.device("cpu"))

    @torch.no_grad()
    def look(self, number: int, size: int, units: int) -> Seen:
        """Render clip ``number`` of the train split, encode it and predict its answers."""
        own = self.settings
        clip_settings = ClipSettings(size, size, FRAMES_PER_UNIT * units)
        clip = make_clip(own.seed, _SPLIT, number, clip_settings, True, own.questions)
        batch = pack([clip], self.tokenizer)
        with torch.autocast("cpu", torch.bfloat16, enabled=self.in_bfloat16):
            streams = self.learner.encode(batch)
            reading = self.learner.read(batch, streams)
        positions, opinion = self.learner.positions(batch), reading.scores.log_softmax(-1)
        looked_at = replace(batch, patches=batch.patches[:0])  # free the memory of the patches
        return Seen(looked_at, positions, streams, opinion)


def load(folder: str) -> tuple[Learner, Any]:
    """Return the model of a directory in float32, ready to train, and its tokenizer."""
    tokenizer: Any = AutoTokenizer.from_pretrained(folder)
    model = Qwen3VLForConditionalGeneration.from_pretrained(folder, dtype=torch.float32)
    return Learner(model, tokenizer), tokenizer
