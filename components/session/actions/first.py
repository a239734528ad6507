"""Saved results of the example clips, which the page shows before anything is computed.

They lie in ``assets/first``. ``python -m components.session.actions.first`` computes them again:
for Glimpse clips with the built-in model, for filmed clips with the photo encoder. The page opens
with the first example. Each other example has a subfolder named like its clip. It holds no frames:
the page reads these from the clip.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from gleanvid.compressors import COMPRESSORS
from gleanvid.models.encoded import ClipKey
from gleanvid.run import Run
from gleanvid.types import VideoTokens

from ...places import ASSETS
from ...viewer.payload import address, pack, publish_frames
from ...viewer.truth import truth
from ..answers import Answer, answers
from ..display import unmeasured
from ..examples import Example, examples, model_for
from ..request import Request, Sides, can_answer
from ..saved_relevance import questions, saved
from ..saved_relevance import save as save_relevance
from ..work.engine import Engine
from ..work.local import BUILT_IN, PHOTOS, LocalBackend
from ..work.queue import Work
from ..work.store import RunStore
from .figures import as_json, measured
from .preview import pair

FOLDER = ASSETS / "first"
RATIO = 0.1  # retention ratio when the page opens: so low that compressors differ visibly
METHODS = ("gleanvid", "full", "vidcom2", "vcast", "visionzip", "fastvid", "uniform", "random")
# Compressors whose results are saved for all examples but the first.
FEW = ("gleanvid", "full", "vidcom2", "uniform")
PREFIX = "first-"  # prefix of the ids of saved example runs
NUM_FRAMES = 32


@dataclass(frozen=True)
class First:
    """The saved result of an example; all fields are empty if there is none."""

    viewer: Mapping[str, Any] | None = None
    answers: list[Answer] = field(default_factory=list)
    runs: list[str] = field(default_factory=list)  # ids of the runs: on side B, on A, then others
    question: str = ""
    figures: Mapping[str, Any] = field(default_factory=dict)  # content of the tab Curves
    model: str = ""
    compressor: Mapping[str, Any] = field(default_factory=dict)  # settings of B's compressor

    def fits(self, request: Request, pinned: Mapping[str, Any] | None) -> bool:
        """Whether sides B with ``request`` and A with ``pinned`` would show this saved result."""
        others = pinned or request.pixels or request.start or request.end
        if self.viewer is None or others or request.frames != NUM_FRAMES:
            return False
        with suppress(ValueError):
            settings = request.make_compressor().settings()
            return (request.model, settings) == (self.model, self.compressor)
        return False

    def opened(self, engine: Engine, example: Example) -> Mapping[str, Any]:
        """Return the viewer's content with frames read from the clip. Raises ``VideoError``."""
        frames = publish_frames(engine.clip(str(example.path), NUM_FRAMES))
        return {**(self.viewer or {}), "sheet": frames, "video": address(example.path)}


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
    figures, made_with = saved.get("figures", {}), (saved["model"], saved["compressor"])
    return First(viewer, saved["answers"], viewer["runs"], saved["question"], figures, *made_with)


def load_others(engine: Engine, examples: Sequence[Example]) -> dict[str, First]:
    """Return the saved results of all examples but the first, by the path of the clip.

    The runs of these results are offered to the engine's store.
    """
    found = {}
    for example in examples[1:]:
        folder = FOLDER / example.path.stem
        found[str(example.path)] = saved = load(folder)
        offer(engine, example, saved.runs, folder)
    return found


def offer(engine: Engine, example: Example, ids: Sequence[str], folder: Path = FOLDER) -> None:
    """Register an example's saved runs in the store, which reads each run on its first use."""

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
    prefix: str = PREFIX,
) -> None:
    """Save runs of one clip and question: B, then A (the baseline), then runs to choose from.

    ``prefix``: beginning of the ids of the runs. For the first example, which the page shows as it
    opens, it is ``PREFIX``; the frames and the curves are then saved too.
    """
    runs = [untimed(run) for run in measured(runs, tokens)]
    relevance = saved(example, runs[0].question, runs[0])
    packed = pack(runs, *pair(len(runs)), tokens, relevance)
    ids = [f"{prefix}{index}" for index in range(len(runs))]
    folder.mkdir(parents=True, exist_ok=True)
    if prefix == PREFIX:
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
        "compressor": dict(runs[0].compressor),
    } | ({"figures": as_json(runs)} if prefix == PREFIX else {})
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


def make(example: Example, names: Sequence[str], folder: Path, prefix: str) -> None:
    """Run the compressors ``names`` on an example, as the page would, and save the results."""
    from gleanvid import api

    engine = Engine(LocalBackend({}))
    model = model_for(example, BUILT_IN, (BUILT_IN, PHOTOS))
    settings = {name: {} if name == "full" else {"retention_ratio": RATIO} for name in names}
    methods = [COMPRESSORS[name](**given) for name, given in settings.items()]
    video = engine.clip(str(example.path), NUM_FRAMES)
    signals = frozenset[str]().union(*(method.needs for method in methods))
    clip = ClipKey(video, model, signals=signals)
    encoded = engine.encode(clip, Work())
    if can_answer(model):
        compared = api.compare(video, example.question, engine.model(model), methods)
        runs = [run for run in compared if isinstance(run, Run)]
    else:
        runs = [engine.compress(clip, encoded, method) for method in methods]
    save(runs, example, encoded.tokens, folder, prefix)


def measure_relevance() -> None:
    """Measure and save token relevance for the suggested questions of the Glimpse examples."""
    from gleanvid import api, pipeline

    model = pipeline.load_model(BUILT_IN)
    save_relevance(
        (clip, api.relevance(clip.path, question, model, words=True))
        for clip in examples()
        if clip.questions
        for question in questions(clip)
    )


if __name__ == "__main__":
    opening, *others = examples()
    measure_relevance()
    make(opening, METHODS, FOLDER, PREFIX)
    for other in others:
        make(other, FEW, FOLDER / other.path.stem, f"{PREFIX}{other.path.stem}-")
