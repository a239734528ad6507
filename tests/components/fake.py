"""A fake backend without a model: features are mean pixel values, answers are fixed words."""

import threading
import time
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import torch

from components.jobs.backend import Backend
from gleanvid.attribution.relevance import Relevance, normalised
from gleanvid.cost import Cost
from gleanvid.models.encoded import ClipKey
from gleanvid.run import Run
from gleanvid.types import ModelError, StoppedError, Video, VideoError, VideoTokens
from tests.components.made_up import made_up_run

ROWS, COLUMNS, PAIR = 8, 14, 2  # rows and columns of a unit's token grid; frames per unit


def moving_square(frames: int = 8, height: int = 72, width: int = 126) -> Video:
    """Return a video of a square that moves across stripes."""
    picture = np.zeros((frames, height, width, 3), np.uint8)
    picture[:, :, ::4] = 60
    for index in range(frames):
        left = index * (width - 24) // max(1, frames - 1)
        picture[index, 24:48, left : left + 24] = (230, 90, 20)
    return Video.from_frames(picture, fps=4.0, name="square")


def write_clip(path: Path) -> None:
    import av

    with av.open(str(path), "w") as container:
        stream = container.add_stream("libx264", rate=8)
        stream.width, stream.height, stream.pix_fmt = 126, 72, "yuv420p"
        for picture in moving_square().frames:
            container.mux(stream.encode(av.VideoFrame.from_ndarray(picture, format="rgb24")))
        container.mux(stream.encode())


class FakeBackend(Backend):
    """Backend that counts its calls and answers with a numbered word every ``pause_s`` seconds."""

    def __init__(self, pause_s: float = 0.0, words: int = 6, failure: Exception | None = None):
        self.pause_s, self.words, self.failure = pause_s, words, failure
        self.word = "word"  # an answer is this word, repeated and numbered
        # compressor -> number of words of its answers; default: ``words``
        self.words_of: dict[str, int] = {}
        self.reads = self.encodes = self.loads = 0
        self.encode_s = self.measure_s = 0.0
        self.measured, self.refusal = 0, ""
        self.asked = None  # the ``Question`` that was answered last
        self.closed = threading.Event()
        self._encoded: dict[tuple, SimpleNamespace] = {}

    def load_model(self, name: str):
        self.loads += 1
        if name != "builtin":
            raise ModelError(f"{name} is not on this computer. Download it first.")
        return SimpleNamespace(name=name)

    def read_video(self, path, num_frames, timeout_s, stop, progress) -> Video:
        self.reads += 1
        if not str(path).endswith(".mp4") or Path(path).read_bytes()[4:8] != b"ftyp":
            raise VideoError(f"{Path(path).name} is not a video that can be read.")
        return replace(moving_square(num_frames), name=Path(path).name)

    def tokens(self, video: Video) -> VideoTokens:
        return self.encode(ClipKey(video, "builtin"), None, threading.Event()).tokens

    def remembered(self, clip, model):
        return self._encoded.get((id(clip.video), clip.max_pixels))

    def encode(self, clip, model, stop):
        if known := self.remembered(clip, model):
            return known
        if stop.wait(self.encode_s):
            raise StoppedError
        video = clip.video
        self.encodes += 1
        units = -(-len(video) // PAIR)
        first = video.frames[::PAIR].astype(np.float32) / 255  # [units, H, W, 3]
        _, height, width, _ = first.shape
        tall, wide = height // ROWS, width // COLUMNS
        cells = first.reshape(units, ROWS, tall, COLUMNS, wide, 3)
        features = torch.tensor(
            cells.transpose(0, 1, 3, 2, 4, 5).reshape(units * ROWS * COLUMNS, -1)
        )
        row, column = np.divmod(np.arange(ROWS * COLUMNS), COLUMNS)
        corners = [column * wide, row * tall, (column + 1) * wide, (row + 1) * tall]
        starts = torch.tensor(video.timestamps[::PAIR])
        tokens = VideoTokens(
            features + 0.01 * torch.rand(features.shape, generator=torch.manual_seed(0)),
            (units, ROWS, COLUMNS),
            seconds=torch.stack([starts, starts + 1 / video.fps], 1),
            rectangles=torch.tensor(np.stack(corners, 1)),
        )
        encoded = SimpleNamespace(tokens=tokens, video=video, encode_s=0.1)
        self._encoded[id(video), clip.max_pixels] = encoded
        return encoded

    def relevance(self, clip, question, answer, model, stop):
        """Return brightness as relevance; the map of the n-th word is shifted by n tokens."""
        self.measured += 1
        if stop.wait(self.measure_s):
            raise StoppedError
        if self.refusal:
            raise ModelError(self.refusal)
        tokens = self.encode(clip, model, stop).tokens
        whole = normalised(tokens.features.norm(dim=1))
        maps = [(word, whole.roll(place)) for place, word in enumerate(answer.split(), 1)]
        grid, log_probability, method = tokens.grid, -0.5, "gradient"
        return Relevance(
            whole, grid, question.strip(), answer, log_probability, method, 0.1, tuple(maps)
        )

    def stream_answer(self, question, model, stop):
        self.asked, clip, compressor = question, question.clip, question.compressor
        try:
            if not question.text.strip():
                raise ValueError("question must not be empty")
            if self.failure:
                raise self.failure
            record = compressor.compress(self.encode(clip, model, stop).tokens)
            text = ""
            words = self.words_of.get(compressor.name, self.words)
            for word in range(words if question.sampling.max_new_tokens > 1 else 1):
                if stop.is_set():
                    break
                time.sleep(self.pause_s)
                text += f"{self.word}{word} "
                yield text
            run = a_run(clip.video, record, compressor, question.text, text.strip())
            yield replace(run, made_with={"max_pixels": clip.max_pixels})
        finally:
            self.closed.set()


def runs_of(*methods, frames: int = 8) -> tuple[list[Run], VideoTokens]:
    """Return a run of each compressor on one clip, and the tokens of the clip."""
    video = moving_square(frames)
    tokens = FakeBackend().tokens(video)
    return [a_run(video, method.compress(tokens), method) for method in methods], tokens


def a_run(video, record, compressor, question="What moves?", answer="A square.") -> Run:
    """Return a run with an answer and costs."""
    made = made_up_run(video, record, **compressor.settings())
    cost = Cost(
        record.num_tokens, record.num_kept, record.num_tokens + 20, record.num_kept + 20,
        0.1, 0.2, 0.004, 0.1, 0.5, 11, 300.0, 2.5e9, 1e10,
    )  # fmt: skip
    return replace(
        made, question=question, model="builtin", answer=answer, cost=cost, seconds=made.seconds / 2
    )
