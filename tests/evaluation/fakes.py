"""A fake model with pseudo-random answers, and a benchmark of synthetic clips."""

import hashlib
import threading
import time
from dataclasses import dataclass
from types import SimpleNamespace
from typing import ClassVar

import numpy as np
import torch

from gleanvid.evaluation.benchmarks.base import Benchmark, Item, chosen
from gleanvid.models.encoded import Encoded
from gleanvid.types import ModelError, Video, VideoError, VideoTokens

OPTIONS = ("red", "green", "blue", "white")


def draw(*parts):
    """Return a pseudo-random number in [0, 1): the same for equal ``parts``, in any process."""
    text = repr(parts).encode()
    return int.from_bytes(hashlib.sha256(text).digest()[:6], "big") / 2**48


@dataclass(frozen=True)
class FakeBenchmark(Benchmark):
    """Benchmark with four questions about each clip.

    ``clips`` is the number of clips, ``broken`` names those that cannot be read.
    """

    name: ClassVar[str] = "fake"
    how: ClassVar[str] = "likelihood"
    ways: ClassVar[tuple[str, ...]] = ("likelihood", "text")

    clips: int = 5
    broken: tuple[str, ...] = ()

    def items(self, limit=None, seed=0):
        every = [
            Item(
                f"{clip}-{number}",
                f"clip {clip}",
                f"question {number}?",
                OPTIONS,
                int(4 * draw(clip, number)),
                (("even", "odd")[number % 2],),
            )
            for clip in range(self.clips)
            for number in range(4)
        ]
        return chosen(every, limit, seed)

    def video(self, clip, num_frames):
        if clip in self.broken:
            raise VideoError(f"{clip} has no video track")
        frames = np.full((num_frames, 4, 4, 3), int(250 * draw(clip)), dtype=np.uint8)
        return Video.from_frames(frames, 1, clip)

    def right(self, item, response):
        return response == item.right_option

    def evidence(self, item, tokens):
        shown = torch.zeros(1, len(tokens), dtype=torch.bool)
        shown[:, : 2 * item.answer] = True
        return shown


class FakeModel:
    """Gives pseudo-random answers, which depend on the question and on the kept tokens."""

    name = "fake"
    device = torch.device("cpu")
    text_config = SimpleNamespace(num_hidden_layers=4)

    def __init__(self, delay_s=0.0, fails_on="", weight=1.0):
        self.hf_model = torch.nn.Linear(3, 2)
        self.hf_model.config = SimpleNamespace(model_type="fake")
        torch.nn.init.constant_(self.hf_model.weight, weight)
        torch.nn.init.constant_(self.hf_model.bias, 0.0)
        self.delay_s, self.fails_on = delay_s, fails_on
        self.encoded, self.read, self.asked = [], [], []
        self.lock = threading.RLock()

    def encode(self, video, needs=frozenset(), max_pixels=None):
        self.encoded.append((video.name, len(video)))
        generator = torch.Generator().manual_seed(int(2**31 * draw(video.name)))
        tokens = VideoTokens(
            torch.randn(len(video) * 9, 8, generator=generator), (len(video), 3, 3)
        )
        return Encoded(video, tokens, 0.0, "", {}, None)

    def conversation(self, encoded, method):
        if method.name == self.fails_on:
            raise ModelError("out of memory")
        self.read.append((encoded.video.name, method))
        return FakeConversation(self, encoded, method)


class FakeConversation:
    def __init__(self, model, encoded, method):
        self.model, self.encoded, self.method = model, encoded, method
        self.records = {0: method.compress(encoded.tokens)}

    def score(self, question, answers):
        time.sleep(self.model.delay_s)
        self.model.asked.append((self.encoded.video.name, question, self.method))
        kept = self.records[0].keep.tolist()
        name = self.encoded.video.name
        return [draw(name, question, answer, kept) for answer in answers]

    def ask(self, question, sampling):
        kept = self.records[0].keep.tolist()
        return SimpleNamespace(text=OPTIONS[int(4 * draw(question, kept))])


def without_times(rows):
    """Return the answers of a journal without their times, which differ between runs."""
    return {key: {n: v for n, v in row.items() if n != "seconds"} for key, row in rows.items()}
