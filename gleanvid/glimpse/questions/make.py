"""Write Glimpse clips as MP4 files, with JSON Lines of questions and ground truth.

``clips.jsonl`` has a line for every clip: its objects, its cuts, and the objects' bounding boxes in
every frame. ``questions.jsonl`` has a line for every question. Both are written last, so a folder
without them is unfinished. Tasks for LMMs-Eval are written to the same folder.
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable, Iterable, Mapping
from fractions import Fraction
from pathlib import Path
from typing import Any, TypedDict

import numpy as np

from gleanvid.glimpse.mark import MARK
from gleanvid.glimpse.questions.clips import FPS, ask_about, clip_name
from gleanvid.glimpse.questions.common import EvidenceFacts
from gleanvid.glimpse.questions.lmms_eval_task import write_tasks
from gleanvid.glimpse.questions.questions import Question, caption
from gleanvid.glimpse.world.render import boxes, render
from gleanvid.glimpse.world.scenes import sample_scene
from gleanvid.glimpse.world.world import ClipSettings, Scene


def write_split(
    split: str,
    count: int,
    folder: Path,
    *,
    seed: int = 0,
    settings: ClipSettings | None = None,
    progress: Callable[[int], None] | None = None,
) -> None:
    """Write the first ``count`` clips of a split. Raises ``ValueError`` if the folder has files."""
    settings = settings or ClipSettings()
    if count < 1:
        raise ValueError(f"n={count} must be at least 1")
    folder.mkdir(parents=True, exist_ok=True)
    if any(folder.iterdir()):
        raise ValueError(f"out={folder} is not empty; choose another folder")
    clips, asked = [], []
    for index in range(count):
        file = folder / f"{clip_name(seed, split, index)}.mp4"
        scene = sample_scene(seed, split, index, settings)
        write_mp4(render(scene), file)
        clips.append(clip_facts(scene, file.name) | {"seed": seed, "split": split, "index": index})
        for number, question in enumerate(ask_about(seed, split, index, settings)):
            key = {"id": f"{file.stem}-{number}", "clip": file.name}
            asked.append(key | question_facts(question, settings))
        if progress is not None:
            progress(index + 1)
    write_tasks(folder)
    _write_lines(folder / "clips.jsonl", clips)
    _write_lines(folder / "questions.jsonl", asked)


def write_example(seed: int, split: str, index: int, settings: ClipSettings, path: Path) -> None:
    """Write clip ``index`` of a split as MP4, with a middle frame as JPEG, questions as JSON."""
    from PIL import Image

    scene = sample_scene(seed, split, index, settings)
    frames = render(scene)
    write_mp4(frames, path)
    Image.fromarray(frames[len(frames) // 2]).save(path.with_suffix(".jpg"), quality=88)
    facts = clip_facts(scene, path.name) | {"seed": seed, "split": split, "index": index}
    del facts["boxes"]
    asked = [caption(scene), *ask_about(seed, split, index, settings)]
    facts["questions"] = [question_facts(question, settings) for question in asked]
    path.with_suffix(".json").write_text(json.dumps(facts, indent=1) + "\n", encoding="utf-8")


def write_mp4(
    frames: np.ndarray, path: Path, fps: int = int(FPS), scale: int = 2, crf: int = 20
) -> None:
    """Write frames uint8 [F, H, W, 3] as H.264 in yuv420p, every pixel repeated ``scale`` times.

    The file is written as ``.part`` and renamed to ``path`` at the end. ``crf``: quality of x264,
    where lower is better.
    """
    import av

    height, width = (side * scale for side in frames.shape[1:3])
    part = path.with_suffix(".part")
    with av.open(str(part), "w", format="mp4", options={"movflags": "faststart"}) as file:
        file.metadata["comment"] = MARK
        stream = file.add_stream("libx264", rate=fps, options={"crf": str(crf)})
        stream.width, stream.height, stream.pix_fmt = width, height, "yuv420p"
        for number, frame in enumerate(frames):
            large = frame.repeat(scale, 0).repeat(scale, 1)
            picture = av.VideoFrame.from_ndarray(large, format="rgb24")
            picture.pts, picture.time_base = number, Fraction(1, fps)
            file.mux(stream.encode(picture))
        file.mux(stream.encode())
    part.replace(path)


class ThingFacts(TypedDict):
    """An object as ``clips.jsonl`` describes it."""

    shape: str
    colour: str
    size: str
    behaviour: str
    direction: str | None
    repeats: int
    # [start, end] in seconds of every time span in which the object is in the scene
    shown_s: list[list[float]]


class ClipFacts(TypedDict):
    """A line of ``clips.jsonl``.

    ``boxes``: for every frame, index in ``things`` -> box (left, top, right, bottom) in px.
    """

    clip: str
    fps: float
    num_frames: int
    size: list[int]  # height and width in pixels
    theme: str
    things: list[ThingFacts]
    cuts_s: list[float]
    boxes: list[dict[str, list[float]]]


def clip_facts(scene: Scene, file: str) -> ClipFacts:
    """Return the ground truth of a clip as its line of ``clips.jsonl``; times are in seconds."""
    settings = scene.settings
    seconds = settings.num_frames / FPS
    things: list[ThingFacts] = [
        {
            "shape": thing.shape,
            "colour": thing.colour,
            "size": thing.size,
            "behaviour": thing.behaviour,
            "direction": thing.direction,
            "repeats": thing.repeats,
            "shown_s": [[start * seconds, end * seconds] for start, end in thing.spans],
        }
        for thing in scene.things
    ]
    return {
        "clip": file,
        "fps": FPS,
        "num_frames": settings.num_frames,
        "size": [settings.height, settings.width],
        "theme": scene.theme,
        "things": things,
        "cuts_s": [shot.start * seconds for shot in scene.shots[1:]],
        "boxes": [
            {str(k): [round(side, 1) for side in box] for k, box in boxes(scene, time).items()}
            for time in scene.times()
        ],
    }


def question_facts(question: Question, settings: ClipSettings) -> dict[str, Any]:
    """Return a question as a dictionary for ``questions.jsonl``, with its evidence in seconds."""
    seconds = settings.num_frames / FPS
    evidence: list[EvidenceFacts] = [
        {"thing": part.thing, "start_s": part.start * seconds, "end_s": part.end * seconds}
        for part in question.evidence
    ]
    return dataclasses.asdict(question) | {"evidence": evidence}


def _write_lines(path: Path, rows: Iterable[Mapping[str, Any]]) -> None:
    part = path.with_suffix(".part")
    part.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    part.replace(path)
