"""The results on the first screen: made once from an example, kept in ``assets/first``.

``python -m components.session.actions.first`` makes them again with the built-in model.
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

from ...places import ASSETS
from ...viewer.payload import address, pack
from ...viewer.truth import truth
from ..display import Answer
from ..examples import Example, examples
from ..request import Sides
from ..saved_relevance import questions, saved
from ..saved_relevance import save as save_relevance
from ..work.engine import Engine
from ..work.store import RunStore
from .figures import as_json, measured
from .preview import answers, pair

FOLDER = ASSETS / "first"
RATIO = 0.1  # the page begins with it: few enough that methods differ
METHODS = ("gleanvid", "full", "vidcom2", "vcast", "visionzip", "fastvid", "uniform", "random")
PREFIX = "first-"  # of the ids of these runs


@dataclass(frozen=True)
class First:
    """What the page opens with; all empty where no result was made."""

    viewer: Mapping[str, Any] | None = None
    answers: list[Answer] = field(default_factory=list)
    runs: list[str] = field(default_factory=list)  # ids, in the order of Sides
    question: str = ""
    figures: Mapping[str, Any] = field(default_factory=dict)  # see figures.as_json


def load(folder: Path = FOLDER, clip: Path | None = None) -> First:
    """``clip``: the file of its clip, for the video with sound."""
    path = folder / "view.json"
    if not path.is_file():
        return First()
    saved = json.loads(path.read_text(encoding="utf-8"))
    viewer = saved["viewer"] | {
        "sheet": address(folder / "sheet.jpg"),
        "data": address(folder / "tokens.bin"),
    }
    if clip is not None:
        viewer["video"] = address(clip)
    return First(viewer, saved["answers"], viewer["runs"], saved["question"], saved["figures"])


def offer(engine: Engine, example: Example, ids: Sequence[str], folder: Path = FOLDER) -> None:
    """The runs behind the first screen are in the store from now on; read once one is used."""

    def reader(place: Path) -> Callable[[], Run]:
        def read() -> Run:
            run = Run.load(place)
            return replace(run, video=engine.clip(str(example.path), len(run.video)))

        return read

    engine.runs.offer({run_id: reader(folder / "runs" / run_id) for run_id in ids}, example)


def save(
    runs: Sequence[Run],
    example: Example,
    tokens: VideoTokens | None = None,
    folder: Path = FOLDER,
) -> None:
    """Save runs of one clip and question: B, then A, then others to choose from."""
    runs = [untimed(run) for run in measured(runs, tokens)]
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
        "figures": as_json(runs),
    }
    (folder / "view.json").write_text(
        json.dumps(content, ensure_ascii=False, indent=1) + "\n", encoding="utf-8"
    )


def without_frames(run: Run) -> Run:
    """The same run with one black pixel a frame: the clip itself is beside it."""
    nothing = np.zeros((len(run.video), 1, 1, 3), np.uint8)
    return replace(run, video=replace(run.video, frames=nothing))


def untimed(run: Run) -> Run:
    """The same run without its times: they are of another machine."""
    none = math.nan
    cost = replace(run.cost, decode_s=none, encode_s=none, compress_s=none, prefill_s=none)
    return replace(run, cost=replace(cost, generate_s=none))


def make(example: Example, folder: Path = FOLDER) -> list[Run]:
    """Ask the example's question of the built-in model, as the page would, and save the results."""
    from gleanvid import api, pipeline

    model = pipeline.load_model("builtin")
    video = pipeline.read_video(example.path, max_side=pipeline.MAX_SIDE)
    settings = {name: {} if name == "full" else {"retention_ratio": RATIO} for name in METHODS}
    methods = [COMPRESSORS[name](**given) for name, given in settings.items()]
    api.ask(video, example.question, model)  # the first run of a process is slower
    runs = [
        run for run in api.compare(video, example.question, model, methods) if isinstance(run, Run)
    ]
    signals = frozenset[str]().union(*(method.needs for method in methods))
    encoded, _ = pipeline.encode(ClipKey(video, model.name, signals=signals), model)
    save_relevance(
        (clip, api.relevance(clip.path, question, model, words=True))
        for clip in examples()
        if clip.questions
        for question in questions(clip)
    )
    save(runs, example, encoded.tokens, folder)
    return runs


if __name__ == "__main__":
    make(examples()[0])
