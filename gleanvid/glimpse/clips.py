"""Glimpse clips as MP4 files that browsers play, with their questions and answers beside them.

``python -m gleanvid.glimpse.clips --split test --index 7 --out clip.mp4`` writes ``clip.mp4``,
``clip.json`` and a small picture ``clip.jpg``.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
from fractions import Fraction
from pathlib import Path

import numpy as np

from gleanvid.glimpse.evaluate import ask_about
from gleanvid.glimpse.render import render
from gleanvid.glimpse.world import ClipSettings, Scene, sample_scene


def write_mp4(frames: np.ndarray, path: Path, fps: int, scale: int = 2, crf: int = 20) -> None:
    """H.264 in yuv420p of uint8 [F, H, W, 3], enlarged ``scale`` times without smoothing."""
    import av

    height, width = (side * scale for side in frames.shape[1:3])
    with av.open(str(path), "w", options={"movflags": "faststart"}) as file:
        stream = file.add_stream("libx264", rate=fps, options={"crf": str(crf)})
        stream.width, stream.height, stream.pix_fmt = width, height, "yuv420p"
        for number, frame in enumerate(frames):
            large = frame.repeat(scale, 0).repeat(scale, 1)
            picture = av.VideoFrame.from_ndarray(large, format="rgb24")
            picture.pts, picture.time_base = number, Fraction(1, fps)
            file.mux(stream.encode(picture))
        file.mux(stream.encode())


def write_clip(seed: int, split: str, index: int, path: Path, seconds: float, fps: int) -> Scene:
    """The scene of (seed, split, index) as MP4, JSON and JPEG; returns the scene."""
    from PIL import Image

    short = sample_scene(seed, split, index, ClipSettings())
    long = ClipSettings(num_frames=round(seconds * fps), min_step=0.1)
    frames, _ = render(dataclasses.replace(short, settings=long))
    write_mp4(frames, path, fps)
    Image.fromarray(frames[len(frames) // 2]).save(path.with_suffix(".jpg"), quality=88)
    truth = {
        "source": f"made by gleanvid.glimpse.clips: seed {seed}, split {split}, index {index}",
        "things": [dataclasses.asdict(thing) for thing in short.things],
        "questions": [
            {"family": q.family, "question": q.text, "answer": q.answer}
            for q in ask_about(seed, split, index, ClipSettings())
        ],
    }
    path.with_suffix(".json").write_text(json.dumps(truth, indent=1) + "\n", encoding="utf-8")
    return short


def main() -> None:
    """Write one clip."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--split", default="test")
    parser.add_argument("--index", type=int, required=True)
    parser.add_argument("--seconds", type=float, default=4.0)
    parser.add_argument("--fps", type=int, default=16)
    parser.add_argument("--out", type=Path, required=True)
    given = parser.parse_args()
    write_clip(given.seed, given.split, given.index, given.out, given.seconds, given.fps)


if __name__ == "__main__":
    main()
