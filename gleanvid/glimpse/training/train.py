"""Train the built-in model.

``python -m gleanvid.glimpse.training.train --out FOLDER --steps 6000``.

First the vision tower alone learns what every visual token shows. Then the model also answers
questions about ever longer clips and learns what has happened. No visual token is dropped. A batch
depends on the seed and its step alone, so a run on one machine can be repeated; workers render
batches ahead.

The learning rate falls over the last part of the steps. A finished run can go on from its
``checkpoint.pt`` with a larger ``--steps``. A run that must end early can go on with a smaller one.
"""

from __future__ import annotations

import argparse
import dataclasses
import logging
import time
from collections import defaultdict
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import load_file
from torch import Tensor
from torch.utils.data import DataLoader
from transformers import PreTrainedTokenizerFast

from gleanvid.glimpse.training.architecture import build_model, export
from gleanvid.glimpse.training.batches import Batch
from gleanvid.glimpse.training.curriculum import (
    Batches,
    Pace,
    TrainSettings,
    computes_bfloat16,
    phase_of,
)
from gleanvid.glimpse.training.curve import Row, append_row
from gleanvid.glimpse.training.learner import Learner
from gleanvid.glimpse.training.targets import HAPPENED, SEEN
from gleanvid.glimpse.training.tokenizer import build_tokenizer

log = logging.getLogger(__name__)
_COLUMNS = ("minute", "step", "phase", "loss", "seen_loss", "past_loss", *SEEN)
_COLUMNS += (*(f"past_{fact}" for fact in HAPPENED), "pointing_loss", "pointed")


class Trainer:
    """A training run: model, optimiser and progress."""

    def __init__(self, settings: TrainSettings, pace: Pace, folder: Path) -> None:
        self.settings, self.pace, self.folder = settings, pace, folder
        self.device = torch.device(pace.device)
        self.in_bfloat16 = settings.bfloat16 and computes_bfloat16(self.device)
        folder.mkdir(parents=True, exist_ok=True)
        self.tokenizer = _tokenizer(folder)
        model = build_model(self.tokenizer, settings.seed)
        self.learner = Learner(model, self.tokenizer).to(self.device)
        self.optimiser = torch.optim.AdamW(
            self.learner.parameters(),
            lr=settings.learning_rate,
            betas=(0.9, 0.98),
            weight_decay=settings.weight_decay,
        )
        self.step, self.clips, self.minutes = settings.first_step, 0, 0.0
        if settings.start_from:
            weights = load_file(Path(settings.start_from) / "model.safetensors", str(self.device))
            own = self.learner.model
            own.load_state_dict(weights, strict=False)  # the file stores tied weights only once
        if (folder / "checkpoint.pt").exists():
            self._restore()

    def rate(self) -> float:
        """Return the learning rate.

        It rises at the start and when a phase adds a loss, then is constant, and falls linearly to
        0 over the last steps.
        """
        phase, since = phase_of(self.step)
        # A phase that adds no loss has no warm-up of its own, only that of the run's first steps.
        if phase.asked and not phase.first_asked:
            since = self.step - self.settings.first_step
        warm = min(1.0, (since + 1) / self.settings.warm_up)
        left = (self.pace.steps - self.step) / max(1.0, self.pace.cooling * self.pace.steps)
        return self.settings.learning_rate * warm * min(1.0, max(0.0, left))

    def batches(self, split: str, numbers: range, workers: int) -> Iterator[Batch]:
        """Yield the batches of ``split`` with these numbers; ``workers`` processes render ahead."""
        own = self.settings
        data = Batches(own.seed, split, own.token_budget, self.tokenizer)
        loader: DataLoader[Any] = DataLoader(
            data,  # type: ignore[arg-type]
            batch_size=None,
            sampler=numbers,
            num_workers=workers,
            prefetch_factor=4 if workers else None,
        )
        yield from loader

    def advance(self, batch: Batch) -> Row:
        """Do one optimiser step; return a row of ``loss.csv``."""
        for group in self.optimiser.param_groups:
            group["lr"] = self.rate()
        with self._autocast():
            loss, row = self._losses(batch)
        self.optimiser.zero_grad(set_to_none=True)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(self.learner.parameters(), 1.0)
        self.optimiser.step()
        self.step += 1
        self.clips += len(batch.questions)
        return row

    def _losses(self, batch: Batch) -> tuple[Tensor, Row]:
        """Return the loss of a batch, and a row of ``loss.csv``."""
        phase, settings = phase_of(self.step)[0], self.settings
        training_tower = phase.asked == 0 or self.step % settings.look_every == 0
        with torch.set_grad_enabled(training_tower):
            streams = self.learner.encode(batch)
        seen_loss, seen = self.learner.seen_loss(streams, batch.seen)
        answer_loss = past_loss = pointing_loss = pointed = torch.full((), torch.nan)
        past = torch.full((len(HAPPENED),), torch.nan)
        loss = seen_loss
        if phase.asked:
            reading = self.learner.read(batch, streams)
            past_loss, past = self.learner.past_loss(reading.half_way, batch.happened)
            pointing_loss, pointed = self.learner.pointing_loss(reading, batch)
            answer_loss = reading.loss()
            loss = answer_loss + settings.seen_weight * seen_loss
            loss = loss + settings.past_weight * past_loss
            loss = loss + settings.pointing_weight * pointing_loss
        losses = (part.item() for part in (answer_loss, seen_loss, past_loss))
        parts = (*seen.tolist(), *past.tolist(), pointing_loss.item(), pointed.item())
        values = (self.minutes, self.step + 1, phase.name, *losses, *parts)
        return loss, dict(zip(_COLUMNS, values, strict=True))

    @torch.no_grad()
    def validate(self) -> dict[str, float]:
        """Return the fraction of right answers by question type, over eight validation batches.

        An answer is right if the model gives each of its tokens the highest probability.
        """
        right: dict[str, list[float]] = defaultdict(list)
        self.learner.eval()
        first = phase_of(self.step)[0].begins
        for batch in self.batches("validation", range(first, first + 8), 0):
            batch = batch.to(self.device)
            with self._autocast():
                reading = self.learner.read(batch, self.learner.encode(batch))
            hits = iter((reading.scores.argmax(-1) == reading.labels).tolist())
            for question in (q for asked in batch.questions for q in asked):
                length = len(self.tokenizer(question.answer)["input_ids"]) + 1
                right[question.family].append(float(sum(islice(hits, length)) == length))
        self.learner.train()
        shares = {family: sum(hits) / len(hits) for family, hits in sorted(right.items())}
        return {"mean of families": sum(shares.values()) / len(shares)} | shares

    def _autocast(self) -> torch.autocast:
        return torch.autocast(self.device.type, torch.bfloat16, enabled=self.in_bfloat16)

    def save(self) -> None:
        """Write ``checkpoint.pt`` and the model directory. If killed, the old checkpoint stays."""
        state = {
            "settings": dataclasses.asdict(self.settings),
            "learner": self.learner.state_dict(),
            "optimiser": self.optimiser.state_dict(),
            "counts": (self.step, self.clips, self.minutes),
        }
        torch.save(state, self.folder / "checkpoint.tmp")
        (self.folder / "checkpoint.tmp").replace(self.folder / "checkpoint.pt")
        export(self.learner.model, self.tokenizer, self.folder / "model")

    def _restore(self) -> None:
        path = self.folder / "checkpoint.pt"
        state = torch.load(path, weights_only=True, map_location=self.device)
        for name, value in dataclasses.asdict(self.settings).items():
            if state["settings"].get(name) != value:
                raise ValueError(
                    f"{name}={value!r} differs from the checkpoint's "
                    f"{state['settings'].get(name)!r}; use its value or another --out folder"
                )
        self.learner.load_state_dict(state["learner"])
        self.optimiser.load_state_dict(state["optimiser"])
        self.step, self.clips, self.minutes = state["counts"]

    def run(self) -> None:
        """Train until ``pace.steps``; log, validate and save on the way."""
        began, before = time.monotonic(), self.minutes
        for batch in self.batches("train", range(self.step, self.pace.steps), self.pace.workers):
            self.minutes = before + (time.monotonic() - began) / 60
            row = self.advance(batch.to(self.device))
            if self.step % 10 == 0:
                append_row(self.folder / "loss.csv", row)
            if self.step % self.pace.validate_every == 0:
                self._note_accuracy()
            if self.step % self.pace.save_every == 0:
                self.save()
        self._note_accuracy()
        self.save()

    def _note_accuracy(self) -> None:
        """Write ``accuracy.csv``, unless this phase of the training has no questions."""
        if not phase_of(self.step)[0].asked:
            return
        for family, accuracy in self.validate().items():
            row: Row = {"minute": self.minutes, "step": self.step, "clips": self.clips}
            row |= {"family": family, "accuracy": accuracy}
            append_row(self.folder / "accuracy.csv", row)
            log.info("step %d: %s %.3f", self.step, family, accuracy)


def _tokenizer(folder: Path) -> PreTrainedTokenizerFast:
    """Return the tokenizer of the run in ``folder`` if it has a checkpoint, else a new one."""
    if (folder / "checkpoint.pt").exists():
        return PreTrainedTokenizerFast.from_pretrained(folder / "model")
    return build_tokenizer()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, required=True)
    for kind in (TrainSettings, Pace):
        for field in dataclasses.fields(kind):
            if field.name != "bfloat16":
                name = "--" + field.name.replace("_", "-")
                parser.add_argument(name, type=type(field.default), default=field.default)
    parser.add_argument(
        "--threads", type=int, default=2, help="CPU threads of torch; use 1 on a busy machine"
    )
    options = vars(parser.parse_args())
    logging.basicConfig(level=logging.INFO, format="%(message)s")
    torch.set_num_threads(options.pop("threads"))
    folder = options.pop("out")
    names = {field.name for field in dataclasses.fields(Pace)}
    pace = Pace(**{name: options.pop(name) for name in names})
    Trainer(TrainSettings(**options), pace, folder).run()


if __name__ == "__main__":
    main()
