"""The result on the first screen: made once from an example, kept in ``assets/first``.

``python -m components.session.first`` makes it again with the built-in model.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from components.session.display import Exchange, exchange
from components.session.examples import Example, examples
from components.session.figures import TITLES, draw, measured
from components.viewer.payload import address, pack
from gleanvid.compressors import COMPRESSORS
from gleanvid.models.encoded import ClipKey
from gleanvid.run import Run
from gleanvid.types import VideoTokens

FOLDER = Path(__file__).resolve().parents[2] / "assets" / "first"
COMPARED = ("full", "vidcom2", "vcast", "visionzip", "fastvid", "holitom", "flashvid", "uniform")


@dataclass(frozen=True)
class First:
    """What the page opens with; all empty where no result was made."""

    viewer: Mapping[str, Any] | None = None
    exchanges: list[Exchange] = field(default_factory=list)
    question: str = ""
    figures: Mapping[str, Any] = field(default_factory=dict)  # as plotly's JSON, or None


def load(folder: Path = FOLDER) -> First:
    path = folder / "view.json"
    if not path.is_file():
        return First()
    saved = json.loads(path.read_text(encoding="utf-8"))
    viewer = saved["viewer"] | {
        "sheet": address(folder / "sheet.jpg"),
        "data": address(folder / "tokens.bin"),
    }
    figures = dict(zip(TITLES, saved["figures"], strict=True))
    return First(viewer, [saved["turn"]], saved["turn"]["question"], figures)


def save(
    run: Run,
    others: Sequence[Run] = (),
    tokens: VideoTokens | None = None,
    folder: Path = FOLDER,
) -> None:
    """``run`` with its answer; ``others`` of the same clip only to compare tokens with."""
    runs = measured([run, *others], tokens)
    packed = pack(runs, tokens=tokens)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "sheet.jpg").write_bytes(packed.sheet)
    (folder / "tokens.bin").write_bytes(packed.data)
    content = {
        "viewer": packed.value,
        "turn": exchange(run.question, run.answer, run),
        "figures": [figure and json.loads(figure.to_json()) for figure in draw(runs).values()],
    }
    (folder / "view.json").write_text(
        json.dumps(content, ensure_ascii=False, indent=1) + "\n", encoding="utf-8"
    )


def make(example: Example, folder: Path = FOLDER) -> Run:
    """Ask the example's question of the built-in model, as the page would, and save the result.

    Beside it stand the tokens that the methods of ``COMPARED`` keep of the same clip.
    """
    from gleanvid import pipeline

    model = pipeline.load_model("builtin")
    pipeline.ask(example.path, example.question, model)  # the first run of a process is slower
    run = pipeline.ask(example.path, example.question, model)
    methods = [COMPRESSORS[name]() for name in COMPARED]
    others = pipeline.compare(run.video, example.question, model, methods)
    runs = [other for other in others if isinstance(other, Run)]
    signals = frozenset[str]().union(*(method.needs for method in methods))
    encoded, _ = pipeline.encode(ClipKey(run.video, model.name, signals=signals), model)
    save(run, runs, encoded.tokens, folder)
    return run


if __name__ == "__main__":
    make(examples()[0])
