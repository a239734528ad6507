"""Saved results of the first example clip, which the page shows before anything is computed.

They lie in ``assets/first``. ``python -m components.page.first`` computes them again
with the built-in model.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from gleanvid.compressors import COMPRESSORS
from gleanvid.models.encoded import ClipKey
from gleanvid.run import Run
from gleanvid.types import VideoTokens

from ..jobs.diagnosed import diagnosed
from ..jobs.display import unmeasured
from ..jobs.engine import Engine
from ..jobs.examples import Example, examples
from ..jobs.local import BUILT_IN, LocalBackend
from ..jobs.queue import Work
from ..jobs.request import FIRST_RATIO, Sides
from ..jobs.saved_relevance import questions, saved
from ..jobs.saved_relevance import save as save_relevance
from ..jobs.store import RunStore
from ..places import ASSETS
from ..tokens.answers import Answer, answers
from ..tokens.preview import pair
from ..viewer.payload import address, pack
from ..viewer.truth import truth

FOLDER = ASSETS / "first"
METHODS = ("gleanvid", "full", "vidcom2", "vcast", "visionzip", "fastvid", "uniform", "frames")
PREFIX = "first-"  # prefix of the ids of saved example runs
NUM_FRAMES = 32


@dataclass(frozen=True)
class First:
    """The saved result of an example; all fields are empty if there is none."""

    viewer: Mapping[str, Any] | None = None
    answers: list[Answer] = field(default_factory=list)
    runs: list[str] = field(default_factory=list)  # ids of the runs: on side B, on A, then others
    question: str = ""


def load(folder: Path = FOLDER, clip: Path | None = None) -> First:
    """Load a saved result; ``clip``: its video file, which the viewer can play."""
    path = folder / "view.json"
    if not path.is_file():
        return First()
    saved = json.loads(path.read_text(encoding="utf-8"))
    viewer = saved["viewer"] | {
        "sheet": address(folder / "sheet.jpg"),
        "data": address(folder / "tokens.bin"),
        "unmeasured": unmeasured(saved["model"]),
    }
    if clip is not None:
        viewer["video"] = address(clip)
    return First(viewer, saved["answers"], viewer["runs"], saved["question"])


def offer(engine: Engine, example: Example, ids: Sequence[str], folder: Path = FOLDER) -> None:
    """Register an example's saved runs in the store, which reads each run on its first use."""

    def reader(place: Path) -> Callable[[], Run]:
        def read() -> Run:
            run = Run.load(place)
            return replace(run, video=engine.clip(str(example.path), len(run.video)))

        return read

    engine.runs.offer({run_id: reader(folder / "runs" / run_id) for run_id in ids}, example)


def save(
    runs: Sequence[Run], example: Example, tokens: VideoTokens | None = None, folder: Path = FOLDER
) -> None:
    """Save runs of one clip and question: B, then A (the baseline), then runs to choose from."""
    runs = [untimed(run) for run in diagnosed(runs, tokens)]
    relevance = saved(example, runs[0].question, runs[0])
    packed = pack(runs, *pair(len(runs)), tokens, relevance)
    ids = [f"{PREFIX}{index}" for index in range(len(runs))]
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "sheet.jpg").write_bytes(packed.sheet)
    (folder / "tokens.bin").write_bytes(packed.data)
    question, video = runs[0].question, runs[0].video
    store = RunStore()
    for run_id, run in zip(ids, runs, strict=True):
        without_frames(run).save(folder / "runs" / run_id)
        store.add(run, str(example.path), example, run_id)
    content = {
        "viewer": packed.value | {"runs": ids, "truth": truth(example.facts, question, video)},
        "answers": answers(store, Sides(ids, question=question)),
        "question": question,
        "model": runs[0].model,
    }
    (folder / "view.json").write_text(
        json.dumps(content, ensure_ascii=False, indent=1) + "\n", encoding="utf-8"
    )


def without_frames(run: Run) -> Run:
    """Return the run with frames of one black pixel: the page reads the frames from the clip."""
    nothing = np.zeros((len(run.video), 1, 1, 3), np.uint8)
    return replace(run, video=replace(run.video, frames=nothing))


def untimed(run: Run) -> Run:
    """Return the run without its times, which were measured on another machine."""
    none = math.nan
    cost = replace(run.cost, decode_s=none, encode_s=none, compress_s=none, prefill_s=none)
    return replace(run, cost=replace(cost, generate_s=none))


def make(example: Example) -> None:
    """Run the compressors ``METHODS`` on an example, as the page would, and save the results."""
    from gleanvid import api

    engine = Engine(LocalBackend({}))
    methods = [
        COMPRESSORS[name](**({} if name == "full" else {"retention_ratio": FIRST_RATIO}))
        for name in METHODS
    ]
    video = engine.clip(str(example.path), NUM_FRAMES)
    signals = frozenset[str]().union(*(method.needs for method in methods))
    encoded = engine.encode(ClipKey(video, BUILT_IN, signals=signals), Work())
    compared = api.compare(video, example.question, engine.model(BUILT_IN), methods)
    save([run for run in compared if isinstance(run, Run)], example, encoded.tokens)


def measure_relevance() -> None:
    """Measure and save token relevance for the suggested questions of the Glimpse examples."""
    from gleanvid import api
    from gleanvid.api import pipeline

    model = pipeline.load_model(BUILT_IN)
    save_relevance(
        (clip, api.relevance(clip.path, question, model, words=True))
        for clip in examples()
        if clip.questions
        for question in questions(clip)
    )


if __name__ == "__main__":
    measure_relevance()
    make(examples()[0])
