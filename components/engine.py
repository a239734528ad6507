"""What the pages of one server share: the loaded model, clips read, runs made, stop flags.

No widget and no screen here. ``library`` is ``gleanvid.pipeline``, or a small stand-in for it.
"""

from __future__ import annotations

import math
import secrets
import threading
from collections import OrderedDict
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

from gleanvid.compressors.base import Compressor
from gleanvid.run import Cost, Run
from gleanvid.types import Compression, ModelError, Video

CLIPS_REMEMBERED = 3
RUNS_MIB = 512


class RunStore:
    """Runs by id; beyond the limit in bytes the least recently used go, the newest stays."""

    def __init__(self, limit_mib: float = RUNS_MIB) -> None:
        self._limit = limit_mib * 2**20
        self._runs: OrderedDict[str, Run] = OrderedDict()
        self._lock = threading.Lock()

    def add(self, run: Run) -> str:
        run_id = secrets.token_urlsafe(9)
        with self._lock:
            self._runs[run_id] = run
            while len(self._runs) > 1 and self._bytes() > self._limit:
                self._runs.popitem(last=False)
        return run_id

    def get(self, run_id: str) -> Run | None:
        with self._lock:
            if run_id not in self._runs:
                return None
            self._runs.move_to_end(run_id)
            return self._runs[run_id]

    def __len__(self) -> int:
        return len(self._runs)

    def _bytes(self) -> int:
        """Frames count once for each video, however many runs share it."""
        videos = {id(run.video): run.video.frames.nbytes for run in self._runs.values()}
        return sum(videos.values()) + sum(_record_bytes(run) for run in self._runs.values())


def _record_bytes(run: Run) -> int:
    tensors = [
        tensor
        for record in run.by_layer.values()
        for tensor in (record.keep, record.group, record.weight, *record.scores.values())
    ]
    return sum(tensor.numel() * tensor.element_size() for tensor in tensors)


class Engine:
    """One model at a time, and everything a page asks of it."""

    def __init__(self, library: Any, runs: RunStore | None = None) -> None:
        self.library = library
        self.runs = runs or RunStore()
        self._lock = threading.Lock()
        self._loading = threading.Lock()  # held for minutes; nothing else may wait for it
        self._models: dict[str, Any] = {}
        self._clips: OrderedDict[tuple[str, int, int], Video] = OrderedDict()
        self._stops: dict[str, threading.Event] = {}

    def model(self, name: str) -> Any:
        """The named model, loaded in place of the one before. Raises ``ModelError``."""
        with self._loading:
            if name not in self._models:
                self._models.clear()
                self._models[name] = self.library.load_model(name)
            return self._models[name]

    def warm_up(self, name: str) -> None:
        """Load a model beside the start of the server; a failure waits for the first who asks."""

        def load() -> None:
            with suppress(ModelError):
                self.model(name)

        threading.Thread(target=load, daemon=True).start()

    def clip(self, path: str, num_frames: int) -> Video:
        """The sampled frames of a file, read once. Raises ``VideoError``."""
        file = Path(path)
        key = (path, file.stat().st_mtime_ns if file.exists() else 0, num_frames)
        with self._lock:
            if key in self._clips:
                self._clips.move_to_end(key)
                return self._clips[key]
        video = self.library.read_video(path, num_frames, max_side=self.library.MAX_SIDE)
        with self._lock:
            self._clips[key] = video
            while len(self._clips) > CLIPS_REMEMBERED:
                self._clips.popitem(last=False)
        return video

    def look(self, video: Video, model: str, compressor: Compressor) -> Run:
        """The tokens of a clip and which of them stay: a run in which nothing was asked."""
        adapter = self.model(model)
        encoded, _ = self.library.encode(video, adapter, compressor.needs)
        layer, stage = compressor.stages[0]
        record = stage.compress(encoded.tokens).to("cpu")
        return Run(
            video=video,
            question="",
            model=adapter.name,
            compressor=compressor.settings(),
            by_layer={layer: record},
            answer="",
            cost=_cost_of_looking(record),
            seconds=encoded.tokens.seconds.cpu(),
            rectangles=encoded.tokens.rectangles.cpu(),
        )

    def answer(
        self,
        video: Video,
        question: str,
        model: str,
        compressor: Compressor,
        stop: threading.Event,
    ) -> Iterator[str | Run]:
        """The growing text of an answer, then its run; ends early once ``stop`` is set."""
        return self.library.stream(video, question, self.model(model), compressor, stop=stop)

    def start(self, session: str) -> bool:
        """Enter this session's answer; False where one is under way already."""
        with self._lock:
            if session in self._stops:
                return False
            self._stops[session] = threading.Event()
            return True

    def flag(self, session: str) -> threading.Event:
        """The stop flag of the answer that ``start`` entered (a set one where there is none)."""
        gone = threading.Event()
        gone.set()
        return self._stops.get(session, gone)

    def stop(self, session: str) -> None:
        """Have the model end this session's answer after the token it is on, and leave it."""
        with self._lock:
            flag = self._stops.pop(session, None)
        if flag is not None:
            flag.set()


def decides_early(compressor: Compressor) -> bool:
    """Whether a method picks tokens from the clip alone, before there is a question."""
    layer, stage = compressor.stages[0]
    return layer == 0 and "text" not in stage.needs


def _cost_of_looking(record: Compression) -> Cost:
    """Token counts alone; what was not done has no figure (NaN)."""
    none = math.nan
    return Cost(
        visual_tokens=record.num_tokens,
        visual_tokens_kept=record.num_kept,
        prompt_tokens=0,
        prompt_tokens_kept=0,
        decode_s=none,
        encode_s=none,
        compress_s=none,
        prefill_s=none,
        generate_s=none,
        new_tokens=0,
        peak_memory_mib=none,
        prefill_flops=none,
        prefill_flops_full=none,
    )
