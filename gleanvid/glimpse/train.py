"""Trains the built-in model: ``python -m gleanvid.glimpse.train --out FOLDER --minutes 54``.

A curriculum in four phases, each a share of the minutes: the encoder alone, told per token which
shape, colour and motion stands there (by heads that are thrown away); then the language loss on
answers, over ever longer and larger clips, the token heads going along. No visual token is ever
dropped in training.
Runs on from ``checkpoint.pt`` in the output folder if there is one.
"""

from __future__ import annotations

import argparse
import dataclasses
import logging
import math
import time
from collections import defaultdict
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

import torch
from torch.nn.functional import cross_entropy

from gleanvid.glimpse.curve import append_row
from gleanvid.glimpse.learner import Learner
from gleanvid.glimpse.model import CELL, build_model, export
from gleanvid.glimpse.packing import Batch, make_clip, pack
from gleanvid.glimpse.questions import HEADLINE
from gleanvid.glimpse.tokenizer import build_tokenizer
from gleanvid.glimpse.world import ClipSettings, stream

log = logging.getLogger(__name__)
_BATCHES = 10**7  # stream of batch shapes, apart from every clip's own
_LEAST_PATH = 24.0  # px from first frame to last, in clips of many frames
_COLUMNS = ("minute", "step", "phase", "loss", "token_loss", "shape", "colour", "motion")


@dataclass(frozen=True)
class Phase:
    """``sizes`` (height, width) in px and ``units`` of two frames are drawn for every batch."""

    name: str
    share: float  # of all minutes
    sizes: tuple[tuple[int, int], ...]
    units: tuple[int, ...]
    clips: int  # per batch, at most
    asked: int = 0  # questions per clip, at most; 0: token heads alone


PHASES = (
    Phase("encoder", 0.3, ((96, 96),), (1,), 64),
    Phase("short", 0.2, ((96, 96), (112, 112)), (1, 1, 2), 24, asked=3),
    Phase("medium", 0.2, ((96, 96), (128, 128), (112, 160), (160, 160)), (2, 3, 4), 12, asked=4),
    Phase(
        "long", 0.3, ((112, 112), (160, 160), (160, 160), (112, 208)), (1, 2, 2, 4, 8, 16), 16, 5
    ),
)


@dataclass(frozen=True)
class TrainSettings:
    """All that decides a run, except how long the machine takes for a step."""

    minutes: float = 54.0
    seed: int = 0
    learning_rate: float = 1e-3
    last_rate: float = 3e-5
    weight_decay: float = 0.02
    warm_up: int = 60  # steps, at the start and where the language loss sets in
    token_budget: int = 1600  # visual tokens per batch
    token_weight: float = 0.5  # of the token heads beside the language loss
    validate_every: float = 5.0  # minutes
    save_every: float = 3.0
    bfloat16: bool = True


class Trainer:
    """One run: model, optimiser, and how far it has come."""

    def __init__(self, settings: TrainSettings, folder: Path) -> None:
        self.settings, self.folder = settings, folder
        folder.mkdir(parents=True, exist_ok=True)
        self.tokenizer = build_tokenizer()
        self.learner = Learner(build_model(self.tokenizer, settings.seed))
        self.optimiser = torch.optim.AdamW(
            self.learner.parameters(),
            lr=settings.learning_rate,
            betas=(0.9, 0.97),
            weight_decay=settings.weight_decay,
        )
        self.step, self.clips, self.minutes, self.language_steps = 0, 0, 0.0, 0
        if (folder / "checkpoint.pt").exists():
            self._restore()

    @property
    def progress(self) -> float:
        return self.minutes / self.settings.minutes

    def phase(self) -> Phase:
        passed = 0.0
        for phase in PHASES:
            passed += phase.share
            if self.progress < passed:
                return phase
        return PHASES[-1]

    def rate(self) -> float:
        """Learning rate: warm-up twice, flat in the encoder phase, then a cosine down."""
        settings = self.settings
        since = self.language_steps if self.phase().asked else self.step
        warm = min(1.0, (since + 1) / settings.warm_up)
        first = PHASES[0].share
        along = min(1.0, max(0.0, (self.progress - first) / (1 - first)))
        low, high = settings.last_rate, settings.learning_rate
        return warm * (low + (high - low) * (1 + math.cos(math.pi * along)) / 2)

    def batch(self, phase: Phase, split: str, number: int) -> Batch:
        """The ``number``-th batch of a split; its clips are used by no other batch."""
        rng = stream(self.settings.seed, split, _BATCHES + number)
        height, width = phase.sizes[rng.integers(len(phase.sizes))]
        units = phase.units[rng.integers(len(phase.units))]
        tokens = units * (height // CELL) * (width // CELL)
        count = max(2, min(phase.clips, self.settings.token_budget // tokens))
        slowest = min(ClipSettings.min_step, _LEAST_PATH / (2 * units - 1))
        settings = ClipSettings(height, width, 2 * units, min_step=slowest)
        first = number * 64
        clips = [
            make_clip(self.settings.seed, split, first + i, settings, split == "train", phase.asked)
            for i in range(count)
        ]
        return pack(clips, self.tokenizer)

    def advance(self) -> dict[str, Any]:
        """One optimiser step; returns what the log shows."""
        began, phase = time.monotonic(), self.phase()
        batch = self.batch(phase, "train", self.step)
        for group in self.optimiser.param_groups:
            group["lr"] = self.rate()
        with torch.autocast("cpu", torch.bfloat16, enabled=self.settings.bfloat16):
            streams = self.learner.encode(batch)
            token_loss, hits = self.learner.token_loss(streams, batch.targets)
            loss = token_loss
            if phase.asked:
                scores, labels = self.learner.answer(batch, streams)
                answer_loss = cross_entropy(scores, labels)
                loss = answer_loss + self.settings.token_weight * token_loss
        self.optimiser.zero_grad(set_to_none=True)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(self.learner.parameters(), 1.0)
        self.optimiser.step()
        self.step += 1
        self.clips += len(batch.questions)
        self.language_steps += phase.asked > 0
        self.minutes += (time.monotonic() - began) / 60
        shown = float(answer_loss.detach()) if phase.asked else float("nan")
        facts = (self.minutes, self.step, phase.name, shown, float(token_loss.detach()))
        return dict(zip(_COLUMNS, (*facts, *hits.tolist()), strict=True))

    @torch.no_grad()
    def validate(self, batches: int = 6) -> dict[str, float]:
        """Share of validation answers that greedy decoding gets exactly right, by family."""
        right: dict[str, list[float]] = defaultdict(list)
        self.learner.eval()
        for number in range(batches):
            batch = self.batch(self.phase(), "validation", number)
            with torch.autocast("cpu", torch.bfloat16, enabled=self.settings.bfloat16):
                scores, labels = self.learner.answer(batch, self.learner.encode(batch))
            hits = iter((scores.argmax(-1) == labels).tolist())
            for asked in batch.questions:
                for question in asked:
                    length = len(self.tokenizer(question.answer)["input_ids"]) + 1
                    right[question.family].append(float(sum(islice(hits, length)) == length))
        self.learner.train()
        pooled = [hit for family in HEADLINE for hit in right[family]]
        return {"headline": sum(pooled) / len(pooled)} | {
            family: sum(hits) / len(hits) for family, hits in sorted(right.items())
        }

    def save(self) -> None:
        """Checkpoint and model directory; a killed write leaves the old checkpoint standing."""
        state = {
            "settings": dataclasses.asdict(self.settings),
            "learner": self.learner.state_dict(),
            "optimiser": self.optimiser.state_dict(),
            "counts": (self.step, self.clips, self.minutes, self.language_steps),
        }
        torch.save(state, self.folder / "checkpoint.tmp")
        (self.folder / "checkpoint.tmp").replace(self.folder / "checkpoint.pt")
        export(self.learner.model, self.tokenizer, self.folder / "model")

    def _restore(self) -> None:
        state = torch.load(self.folder / "checkpoint.pt", weights_only=True)
        for name, value in dataclasses.asdict(self.settings).items():
            if state["settings"].get(name) != value:
                raise ValueError(
                    f"{name}={value!r} differs from the checkpoint's "
                    f"{state['settings'].get(name)!r}; use its value or another --out folder"
                )
        self.learner.load_state_dict(state["learner"])
        self.optimiser.load_state_dict(state["optimiser"])
        self.step, self.clips, self.minutes, self.language_steps = state["counts"]

    def run(self) -> None:
        """Train until the minutes are spent, logging, validating and saving on the way."""
        validated = saved = self.minutes
        while self.progress < 1:
            row = self.advance()
            if self.step % 10 == 0:
                append_row(self.folder / "loss.csv", row)
            if self.phase().asked and self.minutes - validated > self.settings.validate_every:
                validated = self.minutes
                self._note_accuracy()
            if self.minutes - saved > self.settings.save_every:
                saved = self.minutes
                self.save()
        self._note_accuracy()
        self.save()

    def _note_accuracy(self) -> None:
        for family, accuracy in self.validate().items():
            row: dict[str, Any] = {"minute": self.minutes, "step": self.step, "clips": self.clips}
            row |= {"phase": self.phase().name, "family": family, "accuracy": accuracy}
            append_row(self.folder / "accuracy.csv", row)
            log.info("minute %.1f: %s %.3f", self.minutes, family, accuracy)


def main() -> None:
    """Read the settings from the command line and train."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--minutes", type=float, default=TrainSettings.minutes)
    parser.add_argument("--seed", type=int, default=TrainSettings.seed)
    parser.add_argument("--threads", type=int, default=2)
    given = parser.parse_args()
    logging.basicConfig(level=logging.INFO, format="%(message)s")
    torch.set_num_threads(given.threads)
    Trainer(TrainSettings(minutes=given.minutes, seed=given.seed), given.out).run()


if __name__ == "__main__":
    main()
