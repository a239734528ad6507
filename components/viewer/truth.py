"""The right answer about a Glimpse clip, and boxes of the objects that it follows from.

The JSON file of an example clip names the scene that the clip was rendered from. The scene is
sampled again from its seed, which gives every object's place at any time.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path

from gleanvid.glimpse.questions.common import EvidenceFacts, name
from gleanvid.glimpse.world.render import boxes
from gleanvid.glimpse.world.scenes import sample_scene
from gleanvid.glimpse.world.world import ClipSettings, Scene
from gleanvid.types import Video

from .values import Truth


def truth(facts: Path, question: str, video: Video) -> Truth | None:
    """Return the field ``truth`` of the viewer's value; None for an unknown clip or question.

    Args:
        facts: the JSON file of an example clip.
        question: the question.
        video: the frames in the viewer.

    Returns:
        "label": the right answer; "question": the question; "names": names of the objects from
        which the answer follows (its evidence); "boxes": for every frame, boxes [left, top, right,
        bottom] of those objects that are evidence at this time, in fractions of the frame.
    """
    seconds = tuple(float(second) for second in video.timestamps)
    return _truth(facts, question.strip(), seconds) if facts.is_file() else None


@lru_cache(maxsize=32)
def _truth(facts: Path, question: str, seconds: tuple[float, ...]) -> Truth | None:
    known = json.loads(facts.read_text(encoding="utf-8"))
    asked = (item for item in known.get("questions", []) if item["text"] == question)
    found = next(asked, None)
    if found is None or not found["evidence"]:
        return None
    width, height = known["size"]
    settings = ClipSettings(height, width, known["num_frames"])
    scene = _scene(known["seed"], known["split"], known["index"], settings)
    length = known["num_frames"] / known["fps"]
    named = (name(scene.things[item["thing"]]) for item in found["evidence"])
    return {
        "label": found["answer"],
        "question": question,
        "names": list(dict.fromkeys(named)),
        "boxes": [_boxes(scene, second, length, found["evidence"]) for second in seconds],
    }


@lru_cache(maxsize=8)
def _scene(seed: int, split: str, index: int, settings: ClipSettings) -> Scene:
    return sample_scene(seed, split, index, settings)


def _boxes(
    scene: Scene, second: float, length: float, evidence: Sequence[EvidenceFacts]
) -> list[list[float]]:
    """Return the boxes of the objects that are evidence for the answer at the time ``second``.

    A box is left, top, right and bottom in fractions of the frame. ``length``: seconds of the clip.
    """
    places = boxes(scene, min(second / length, 1 - 1e-9))
    wide, tall = scene.settings.width, scene.settings.height
    named = {
        item["thing"]
        for item in evidence
        if item["start_s"] - 1e-6 <= second < item["end_s"] - 1e-6
    }
    return [
        [round(part, 4) for part in (left / wide, top / tall, right / wide, bottom / tall)]
        for thing, (left, top, right, bottom) in places.items()
        if thing in named
    ]
