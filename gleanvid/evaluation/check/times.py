"""Measure the time and memory that compression costs and saves on this device."""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import fields, replace
from statistics import median
from typing import Any, ClassVar

import torch
from torch import nn

from gleanvid.compressors.base import Compressor
from gleanvid.compressors.full_tokens import FullTokens
from gleanvid.compressors.gleanvid import GleanVID
from gleanvid.evaluation.check.report import Timing
from gleanvid.models import boundary
from gleanvid.models.base import ModelAdapter
from gleanvid.models.cost.measure import now, peak_memory_mib, reset_peak_memory
from gleanvid.models.encoded import Encoded
from gleanvid.types import Compression, Video, VideoTokens

QUESTION = "What happens in this video?"
DECODED = 8  # tokens generated after the first
REPEATS = 3
LONGER = 4  # :func:`pays_from` tries up to LONGER times as many frames as the clip has
SHARES = (0.25, 0.15)


class Clock:
    """Reads the time of a model's device, on CUDA from CUDA events.

    Several GPUs have no common timeline. If the model's layers are on several GPUs, all GPUs are
    synchronised and the wall clock is read.
    """

    def __init__(self, model: ModelAdapter) -> None:
        self.device = model.device
        parts = getattr(model.hf_model, "hf_device_map", {}).values()
        self.several = len(set(map(str, parts))) > 1
        self.by_events = self.device.type == "cuda" and not self.several

    def mark(self) -> Any:
        if self.several:
            for number in range(torch.cuda.device_count()):
                torch.cuda.synchronize(number)
        if not self.by_events:
            return now(self.device)
        event = torch.cuda.Event(enable_timing=True)
        event.record(torch.cuda.current_stream(self.device))
        return event

    def between(self, first: Any, second: Any) -> float:
        if not self.by_events:
            return second - first
        second.synchronize()
        return first.elapsed_time(second) / 1e3


class _Timed(Compressor):
    """Compressor that runs ``inner`` and records the time before and after it."""

    name: ClassVar[str] = "timed"
    title: ClassVar[str] = "Timed"
    paper: ClassVar[str] = "none"

    def __init__(self, inner: Compressor, clock: Clock) -> None:
        super().__init__(inner.retention_ratio)
        self.inner, self.clock = inner, clock
        self.marks: list[Any] = []

    def _compress(self, tokens: VideoTokens) -> Compression:
        self.marks.append(self.clock.mark())
        record = self.inner.compress(tokens)
        self.marks.append(self.clock.mark())
        return record


@torch.no_grad()
def timings(
    model: ModelAdapter, video: Video, on_round: Callable[[str], None]
) -> tuple[float, tuple[Timing, ...]]:
    """Return the seconds of encoding, and a :class:`Timing` for each of some retention ratios.

    The ratios are 1 (all tokens) and those in :data:`SHARES`. Every round measures all ratios. The
    results are medians of :data:`REPEATS` rounds after one warm-up round.
    """
    clock = Clock(model)
    methods = [FullTokens(), *(GleanVID(share) for share in SHARES)]
    encode_s, rounds = [], []
    for number in range(REPEATS + 1):
        on_round(f"times, round {number + 1} of {REPEATS + 1}")
        first = clock.mark()
        encoded = model.encode(video)
        encode_s.append(clock.between(first, clock.mark()))
        rounds.append([once(model, encoded, method, clock) for method in methods])
    rows = []
    for place in range(len(methods)):
        rows.append(_median([turn[place] for turn in rounds[1:]]))
    return median(encode_s[1:]), tuple(rows)


def once(
    model: ModelAdapter, encoded: Encoded, method: Compressor, clock: Clock, decoded: int = DECODED
) -> Timing:
    """Time one answer of ``decoded`` + 1 tokens."""
    gc.collect()
    reset_peak_memory(model.device)
    timed = _Timed(method, clock)
    with _each_token(model, clock) as tokens:
        start = clock.mark()
        answer(model, encoded, timed, decoded + 1)
    compress_s = clock.between(*timed.marks)
    return Timing(
        method.retention_ratio,
        method.budget(encoded.tokens),
        compress_s,
        clock.between(start, tokens[0]) - compress_s,
        clock.between(tokens[0], tokens[-1]) / max(1, decoded),
        peak_memory_mib(model.device),
    )


def answer(model: ModelAdapter, encoded: Encoded, method: Compressor, length: int) -> None:
    """Generate an answer of exactly ``length`` tokens by the model's own generate()."""
    hf_model: Any = model.hf_model
    inputs = model.prompt(encoded, QUESTION, ())
    with (
        model.lock,
        boundary.remembered_vision(model.layout, encoded.vision),
        boundary.compressing(hf_model, model.layout, method, encoded.signals),
        boundary.last_logits_only(hf_model),
    ):
        hf_model.generate(**inputs, do_sample=False, min_new_tokens=length, max_new_tokens=length)


@contextmanager
def _each_token(model: ModelAdapter, clock: Clock) -> Iterator[list[Any]]:
    """Collect the time at which the logits of each token are computed."""
    marks: list[Any] = []

    def mark(module: nn.Module, args: Any, output: Any) -> None:
        marks.append(clock.mark())

    with model.hf_model.get_output_embeddings().register_forward_hook(mark):
        yield marks


def _median(rows: Sequence[Timing]) -> Timing:
    names = [one.name for one in fields(Timing) if one.name.endswith(("_s", "_mib"))]
    return replace(rows[0], **{n: median(getattr(row, n) for row in rows) for n in names})


def saved_s(full: Timing, short: Timing) -> float:
    """Return the seconds of prefill that compression saves, minus the seconds that it takes."""
    return full.prefill_s - short.prefill_s - short.compress_s


@torch.no_grad()
def pays_from(model: ModelAdapter, video: Video, on_length: Callable[[str], None]) -> int | None:
    """Return the smallest tried number of frames at which keeping 25 % of the tokens saves time.

    It tries 2, 4, 8 ... frames, up to :data:`LONGER` times those of the clip, which is repeated if
    too short. Return None if compression saves time at no tried number.
    """
    clock, frames = Clock(model), 2
    while frames <= LONGER * len(video):
        on_length(f"whether compression pays on {frames} frames")
        encoded = model.encode(repeated(video, frames))
        turns = [
            [once(model, encoded, method, clock, 0) for method in (FullTokens(), GleanVID(0.25))]
            for _ in range(REPEATS)
        ]
        full, short = (_median([turn[place] for turn in turns]) for place in (0, 1))
        if saved_s(full, short) > 0:
            return frames
        frames *= 2
    return None


def repeated(video: Video, frames: int) -> Video:
    """Return ``frames`` evenly spaced frames; if the clip is too short, it starts again."""
    every = max(1, len(video) // frames)
    rows = [number * every % len(video) for number in range(frames)]
    return Video.from_frames(video.frames[rows], fps=1.0)


def advice(timed: Sequence[Timing], pays: int | None, frames: int) -> tuple[str, ...]:
    """Return sentences that interpret the times.

    ``timed``: timings on ``frames`` frames, all tokens first. ``pays``: result of
    :func:`pays_from`.
    """
    full, *shorter = timed
    said = []
    for short in shorter:
        gained, cost = full.prefill_s - short.prefill_s, short.compress_s
        sentence = (
            f"At {short.retention_ratio:.0%}, GleanVID saves {gained * 1e3:.1f} ms of prefill and "
            f"costs {cost * 1e3:.1f} ms"
        )
        share = f" ({cost / gained:.0%} of what it saves)" if gained > 0 else ""
        said.append(sentence + share + ".")
    if pays is None:
        said.append(
            f"Compression does not make the first token faster here, up to {LONGER * frames} "
            "frames. The table shows whether it saves memory, or time per later token."
        )
    elif saved_s(full, shorter[0]) <= 0 or pays > frames:
        said.append(
            f"At {frames} frames, do not expect a faster first token. In clips of 2, 4, 8 ... "
            f"frames, compression first made it faster at {pays} frames."
        )
    else:
        said.append(
            f"Compression makes the first token faster from {pays} frames on (clips of 2, 4, 8 ... "
            "frames were tried)."
        )
    return tuple(said)
