"""Teach the built-in model to read clips that have lost tokens.

``python -m gleanvid.glimpse.training.reader --out FOLDER --steps 5000``.

The run begins with a copy of a finished model, the teacher. The vision tower is not trained. The
language model answers questions about clips of which it gets a random part of the visual tokens
(``masks``). It learns to predict what the teacher predicts with all tokens.

The teacher encodes a clip once. The clip is then used for a few steps, each with other tokens
dropped. Every process uses one clip per step, and all use the mean of their gradients. After a
warm-up, the learning rate falls to 0 at ``--steps``. A run resumes from ``checkpoint.pt``, even
with another number of steps.
"""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor, distributed, multiprocessing
from torch.nn.functional import cross_entropy, kl_div

from gleanvid.glimpse.training.architecture import MERGE, export
from gleanvid.glimpse.training.curve import append_row
from gleanvid.glimpse.training.masks import draw_mask, draw_share, without_tokens
from gleanvid.glimpse.training.teacher import ReaderSettings, Seen, Teacher, load

# Side of a clip's square frames in px; one is drawn for every clip.
_SIZES = (160, 160, 160, 160, 128, 112, 96, 96, 96, 96)
_UNITS = (16, 16, 16, 16, 12, 8)  # numbers of temporal units; one is drawn for every clip
# Columns of loss.csv, each a weighted mean over answer tokens.
_NOTED = ("loss", "teacher_loss", "distance", "right", "teacher_right")
_LOG_EVERY = 20  # a row of loss.csv is a mean over this many steps


class Reader:
    """One process of a training run: the model and the encoded clips in its memory (``shelf``)."""

    def __init__(self, settings: ReaderSettings, steps: int, rank: int = 0, ranks: int = 1) -> None:
        self.settings, self.steps, self.rank, self.ranks = settings, steps, rank, ranks
        self.teacher = Teacher(settings)
        self.learner, self.tokenizer = load(settings.weights or settings.start_from)
        language: Any = self.learner.model.model.language_model
        self.weights = list(language.parameters())
        self.optimiser = torch.optim.AdamW(
            self.weights, betas=(0.9, 0.98), weight_decay=settings.weight_decay, fused=True
        )
        self.shelf: list[Seen] = []
        self.step, self.minutes = 0, 0.0

    def rate(self) -> float:
        """Return the learning rate: a warm-up times a linear decay to 0 at the last step."""
        warm = min(1.0, (self.step + 1) / self.settings.warm_up)
        return self.settings.learning_rate * warm * max(0.0, 1 - self.step / self.steps)

    def advance(self) -> Tensor:
        """Do one training step; return weighted sums over answer tokens, [2, 6].

        Row 0 holds the sums for clips with all visual tokens, row 1 those for clips with dropped
        tokens. The columns are those of ``_NOTED``, then the sum of the weights.
        """
        # All processes draw the same clip size and retention ratio, so that none waits for another.
        shared = np.random.default_rng([self.settings.seed, self.step])
        if not self.shelf or self.step % self.settings.uses == 0:
            self._fetch(int(shared.choice(_SIZES)), int(shared.choice(_UNITS)))
        seen = self.shelf[shared.integers(len(self.shelf))]
        share = draw_share(shared)
        rng = np.random.default_rng([self.settings.seed, self.step, self.rank + 1])
        loss, noted = self._losses(seen, share, rng)
        self.optimiser.zero_grad(set_to_none=True)
        loss.backward()
        noted = self._agree(noted)
        torch.nn.utils.clip_grad_norm_(self.weights, 1.0)
        for group in self.optimiser.param_groups:
            group["lr"] = self.rate()
        self.optimiser.step()
        self.step += 1
        return noted

    def _fetch(self, size: int, units: int) -> None:
        number = self.step * self.ranks + self.rank
        self.shelf.append(self.teacher.look(number, size, units))
        del self.shelf[: -self.settings.shelf]

    def _losses(self, seen: Seen, share: float, rng: np.random.Generator) -> tuple[Tensor, Tensor]:
        units, rows, columns = seen.batch.grid_thw[0].tolist()
        keep = draw_mask(rng, (units, rows // MERGE, columns // MERGE), share)
        video = self.learner.model.config.video_token_id
        batch, positions, streams = without_tokens(
            seen.batch, seen.positions, seen.streams, keep, video
        )
        with torch.autocast("cpu", torch.bfloat16, enabled=self.teacher.in_bfloat16):
            reading = self.learner.read(batch, streams, positions)
        own, labels = reading.scores.log_softmax(-1), reading.labels
        losses, before = (
            cross_entropy(scores, labels, reduction="none") for scores in (own, seen.opinion)
        )
        distance = kl_div(own, seen.opinion, log_target=True, reduction="none").sum(-1)
        right, was_right = (scores.argmax(-1) == labels for scores in (own, seen.opinion))
        values = (losses, before, distance, right, was_right, torch.ones_like(losses))
        noted = torch.zeros(2, len(values))
        noted[int(share < 1)] = torch.stack(values).detach() @ reading.weights
        both = losses + self.settings.distance_weight * distance
        return (both @ reading.weights) / len(batch.questions[0]), noted

    def _agree(self, noted: Tensor) -> Tensor:
        """Average the gradients over all processes; return ``noted`` summed over them."""
        if self.ranks == 1:
            return noted
        gradients: list[Any] = [weight.grad for weight in self.weights]
        flat = torch.cat([part.reshape(-1) for part in (*gradients, noted)])
        distributed.all_reduce(flat)
        parts = flat.split([part.numel() for part in (*gradients, noted)])
        for gradient, part in zip(gradients, parts[:-1], strict=True):
            gradient.copy_(part.view_as(gradient)).div_(self.ranks)
        return parts[-1].view_as(noted).clone()

    def save(self, folder: Path) -> None:
        """Write ``checkpoint.pt`` and the model directory. If killed, the old checkpoint stays."""
        state = {
            "weights": self.learner.model.model.language_model.state_dict(),
            "optimiser": self.optimiser.state_dict(),
            "counts": (self.step, self.minutes),
        }
        torch.save(state, folder / "checkpoint.tmp")
        (folder / "checkpoint.tmp").replace(folder / "checkpoint.pt")
        export(self.learner.model, self.tokenizer, folder / "model")

    def restore(self, path: Path) -> None:
        """Resume from a checkpoint. It has no encoded clips; new ones are drawn."""
        state = torch.load(path, weights_only=True)
        self.learner.model.model.language_model.load_state_dict(state["weights"])
        self.optimiser.load_state_dict(state["optimiser"])
        self.step, self.minutes = state["counts"]


def train(
    rank: int, ranks: int, settings: ReaderSettings, steps: int, every: float, folder: Path
) -> None:
    """Run process number ``rank`` of ``ranks`` training processes.

    Process 0 saves the model every ``every`` minutes and at the end.
    """
    torch.set_num_threads(1)
    if ranks > 1:
        os.environ.setdefault("GLOO_SOCKET_IFNAME", "lo")
        meeting = f"file://{(folder / 'meeting').absolute()}"
        distributed.init_process_group("gloo", meeting, rank=rank, world_size=ranks)
    reader = Reader(settings, steps, rank, ranks)
    if (folder / "checkpoint.pt").exists():
        reader.restore(folder / "checkpoint.pt")
    began, before, saved = time.monotonic(), reader.minutes, time.monotonic()
    noted = torch.zeros(2, len(_NOTED) + 1)
    while reader.step < steps:
        noted += reader.advance()
        reader.minutes = before + (time.monotonic() - began) / 60
        if rank:
            continue
        if reader.step % _LOG_EVERY == 0:
            append_row(folder / "loss.csv", _row(reader, noted))
            noted.zero_()
        if time.monotonic() - saved > 60 * every or reader.step == steps:
            reader.save(folder)
            saved = time.monotonic()
    if ranks > 1:
        distributed.destroy_process_group()


def _row(reader: Reader, noted: Tensor) -> dict[str, float | str]:
    row: dict[str, float | str] = {"minute": reader.minutes, "step": reader.step}
    means = noted[:, :-1] / noted[:, -1:]
    for name, values in zip(("whole", "dropped"), means.tolist(), strict=True):
        row |= {f"{name}_{what}": value for what, value in zip(_NOTED, values, strict=True)}
    return row


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--steps", type=int, default=5000)
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument(
        "--save-every", type=float, default=3.0, help="minutes between two checkpoints"
    )
    own = fields(ReaderSettings)
    for item in own:
        name = "--" + item.name.replace("_", "-")
        parser.add_argument(name, type=type(item.default), default=item.default)
    options = parser.parse_args(arguments)
    given = {item.name: getattr(options, item.name) for item in own}
    options.out.mkdir(parents=True, exist_ok=True)
    (options.out / "meeting").unlink(missing_ok=True)
    settings = (options.processes, ReaderSettings(**given), options.steps, options.save_every)
    multiprocessing.spawn(train, (*settings, options.out), nprocs=options.processes)


if __name__ == "__main__":
    main()
