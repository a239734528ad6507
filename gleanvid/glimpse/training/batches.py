"""From scenes to training batches, in the layout that the processor gives at inference.

Several questions about a clip share its visual tokens: a sequence is the video part of the prompt,
then every question with its answer. A question does not attend to the others, and has the positions
that it would have if it were asked alone.

Letters in shapes: B clips, Q questions in all, U temporal units of two frames each, P patches and
N visual tokens per unit, C numbers per patch, S sequence length.
"""

from __future__ import annotations

import io
from collections import Counter
from dataclasses import dataclass, fields, replace

import numpy as np
import torch
from PIL import Image, ImageFilter
from torch import Tensor
from transformers import PreTrainedTokenizerFast

from gleanvid.glimpse.questions.questions import Question, caption, questions
from gleanvid.glimpse.training import tokenizer as words
from gleanvid.glimpse.training.architecture import CELL, MERGE, PATCH, TEMPORAL
from gleanvid.glimpse.training.targets import IGNORED, evidence_tokens, token_targets
from gleanvid.glimpse.world.render import render
from gleanvid.glimpse.world.scenes import sample_scene
from gleanvid.glimpse.world.world import ClipSettings, Scene, stream

_CAPTIONED = 0.4  # fraction of clips that also get a caption
_CLEAN = 0.4  # fraction of clips that are not augmented
# Question type -> loss weight of its answers; 1 if it is not listed. Hard types weigh more.
WEIGHTS = {
    "caption": 0.3,
    "shape": 0.3,
    "count": 0.3,
    "absent": 0.3,
    "direction": 0.3,
    "colour": 0.6,
    "place": 0.6,
    "action": 1.5,
    "order": 2.0,
    "cut": 2.0,
    "collision": 2.0,
    "repeats": 2.0,
    "comparison": 2.0,
    "relation": 3.0,
}


@dataclass(frozen=True)
class Clip:
    """One rendered clip, its questions, and the training targets of each visual token."""

    patches: np.ndarray  # float32 [U * P, C], pixels of the patches
    grid: tuple[int, int, int]  # number of units, rows and columns of patches
    seconds: np.ndarray  # [U], time of each unit in seconds
    questions: list[Question]
    evidence: np.ndarray  # bool [Q, U * N], which tokens show the answer of each question
    seen: np.ndarray  # int64 [U * N, 5], classes of ``targets.SEEN``
    happened: np.ndarray  # int64 [U * N, 8], classes of ``targets.HAPPENED``


@dataclass(frozen=True)
class Batch:
    """Clips of equal size and length, with one sequence of tokens for each clip."""

    patches: Tensor  # [B * U * P, C], pixels of the patches
    grid_thw: Tensor  # [B, 3], number of units, rows and columns of patches per clip
    ids: Tensor  # [B, S], token ids
    segments: Tensor  # [B, S], what a token belongs to: -1 padding, 0 the video, q >= 1 question q
    labels: Tensor  # [B, S], token ids of the answers, IGNORED elsewhere
    weights: Tensor  # [B, S], loss weights; over an answer they sum to its type's value in WEIGHTS
    asked: Tensor  # [Q, 2], clip and sequence position of every question's last token
    evidence: Tensor  # bool [Q, U * N], which tokens show the answer of each question
    seen: Tensor  # [B * U * N, 5], classes of ``targets.SEEN``
    happened: Tensor  # [B * U * N, 8], classes of ``targets.HAPPENED``
    questions: list[list[Question]]

    def to(self, device: torch.device) -> Batch:
        tensors = {f.name: getattr(self, f.name) for f in fields(self) if f.name != "questions"}
        moved = {name: tensor.to(device, non_blocking=True) for name, tensor in tensors.items()}
        return replace(self, **moved)

    def mask(self) -> Tensor:
        """Return the attention mask, bool [B, 1, S, S].

        Every token, even padding, attends to itself and to earlier tokens of the video and of its
        own question.
        """
        length = self.ids.shape[1]
        rows, columns = self.segments[:, :, None], self.segments[:, None, :]
        causal = torch.ones(length, length, dtype=torch.bool, device=rows.device).tril()
        seen = causal & ((columns == 0) | (columns == rows)) & (columns >= 0)
        return (seen | torch.eye(length, dtype=torch.bool, device=rows.device))[:, None]


def make_clip(
    seed: int, split: str, index: int, settings: ClipSettings, worse: bool, limit: int
) -> Clip:
    """Render clip ``index`` of a split and choose at most ``limit`` of its questions.

    ``worse``: whether the frames may be degraded (light, blur, JPEG), as cameras and codecs do.
    """
    scene = sample_scene(seed, split, index, settings)
    frames, shares = render(scene, CELL)
    rng = stream(seed, split, index, purpose=1)
    if worse:
        frames = augment(frames, rng)
    step = float(np.exp(rng.uniform(np.log(0.03), np.log(1.2))))
    units = settings.num_units
    seconds = step * (np.arange(units) * TEMPORAL + (TEMPORAL - 1) / 2)
    grid = (units, settings.height // PATCH, settings.width // PATCH)
    asked = choose(scene, rng, limit)
    targets = token_targets(scene, shares)
    evidence = np.zeros((len(asked), len(targets[0])), dtype=bool)
    for row, question in zip(evidence, asked, strict=True):
        row[:] = evidence_tokens(shares, question.evidence)
    return Clip(patchify(frames), grid, seconds, asked, evidence, *targets)


def augment(frames: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Return ``frames`` uint8 [F, H, W, 3], degraded or unchanged at random."""
    if rng.random() < _CLEAN:
        return frames
    light = rng.uniform(0.85, 1.12)
    blur = rng.uniform(0.4, 1.1) if rng.random() < 0.35 else 0.0
    quality = int(rng.integers(35, 95)) if rng.random() < 0.6 else 0
    table = np.clip(np.arange(256) * light, 0, 255).astype(np.uint8)
    return np.stack([_degraded(table[frame], blur, quality) for frame in frames])


def _degraded(frame: np.ndarray, blur: float, quality: int) -> np.ndarray:
    """Blur a frame with radius ``blur``, compress it as JPEG of ``quality``; 0 skips a step."""
    image = Image.fromarray(frame)
    if blur:
        image = image.filter(ImageFilter.GaussianBlur(blur))
    if quality:
        file = io.BytesIO()
        image.save(file, "JPEG", quality=quality)
        image = Image.open(file)
    return np.asarray(image)


def choose(scene: Scene, rng: np.random.Generator, limit: int) -> list[Question]:
    """Choose up to ``limit`` questions of as many types as possible, sometimes with a caption."""
    waiting = questions(scene, rng)
    chosen: list[Question] = []
    if limit and rng.random() < _CAPTIONED:
        chosen.append(caption(scene))
    while waiting and len(chosen) < limit:
        counts = Counter(question.family for question in chosen)
        least = min(counts[question.family] for question in waiting)
        rarest = [k for k, question in enumerate(waiting) if counts[question.family] == least]
        chosen.append(waiting.pop(rarest[rng.integers(len(rarest))]))
    return chosen


def patchify(frames: np.ndarray) -> np.ndarray:
    """Cut frames, uint8 [2U, H, W, 3], into patches as the processor does: float32 [U * P, C]."""
    count, height, width, _ = frames.shape
    pixels = (frames.astype(np.float32) / 255 - 0.5) / 0.5
    rows, columns = height // CELL, width // CELL
    shape = (count // TEMPORAL, TEMPORAL, rows, MERGE, PATCH, columns, MERGE, PATCH, 3)
    ordered = pixels.reshape(shape).transpose(0, 2, 5, 3, 6, 8, 1, 4, 7)
    return ordered.reshape(-1, 3 * TEMPORAL * PATCH * PATCH)


def pack(clips: list[Clip], tokenizer: PreTrainedTokenizerFast) -> Batch:
    """Pack clips of equal size and length into a batch, padded to the longest sequence."""
    rows = [_row(clip, tokenizer) for clip in clips]
    length = max(len(row[0]) for row in rows)
    filling = (tokenizer.pad_token_id, -1, IGNORED, 0.0)
    ids, segments, labels, weights = (
        torch.tensor([row[i] + [fill] * (length - len(row[i])) for row in rows])
        for i, fill in enumerate(filling)
    )
    return Batch(
        torch.from_numpy(np.concatenate([clip.patches for clip in clips])),
        torch.tensor([clip.grid for clip in clips]),
        ids,
        segments,
        labels,
        weights,
        answers_begin(labels),
        torch.from_numpy(np.concatenate([clip.evidence for clip in clips])),
        torch.from_numpy(np.concatenate([clip.seen for clip in clips])),
        torch.from_numpy(np.concatenate([clip.happened for clip in clips])),
        [clip.questions for clip in clips],
    )


def answers_begin(labels: Tensor) -> Tensor:
    """Return the clip and sequence position of the token before each answer, int64 [Q, 2]."""
    answer = labels != IGNORED
    return (answer[:, 1:] & ~answer[:, :-1]).nonzero()


def _row(
    clip: Clip, tokenizer: PreTrainedTokenizerFast
) -> tuple[list[int], list[int], list[int], list[float]]:
    """Return the sequence of one clip: its ids, segments, labels and weights (see ``Batch``)."""
    tokens = clip.grid[1] * clip.grid[2] // MERGE**2
    frame = words.VISION_START + words.VIDEO * tokens + words.VISION_END
    film = "".join(f"<{second:.1f} seconds>{frame}" for second in clip.seconds)
    prompt = f"{words.START}user\n{words.VISION_START}{film}{words.VISION_END}"
    ids = list(tokenizer(prompt)["input_ids"])
    segments, labels, weights = [0] * len(ids), [IGNORED] * len(ids), [0.0] * len(ids)
    for q, question in enumerate(clip.questions, start=1):
        asked = f"{question.text}{words.END}\n{words.START}assistant\n"
        before = tokenizer(asked)["input_ids"]
        answer = tokenizer(question.answer + words.END)["input_ids"]
        ids += before + answer
        segments += [q] * (len(before) + len(answer))
        labels += [IGNORED] * len(before) + answer
        weight = WEIGHTS.get(question.family, 1.0)
        weights += [0.0] * len(before) + [weight / len(answer)] * len(answer)
    return ids, segments, labels, weights
