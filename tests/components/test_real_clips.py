"""Odd clips through the whole of the library: each is shown, or refused in words."""

from __future__ import annotations

import numpy as np
import pytest

from components.actions import Request, look
from components.engine import Engine
from gleanvid import GleanVID, pipeline
from gleanvid.models.load import BUILTIN

av = pytest.importorskip("av")
pytestmark = pytest.mark.skipif(
    not (BUILTIN / "model.safetensors").is_file(), reason="no built-in weights"
)


@pytest.fixture(scope="module")
def engine():
    return Engine(pipeline)


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("GRADIO_TEMP_DIR", str(tmp_path / "cache"))


def write(path, codec: str, frames: int, width: int, height: int) -> str:
    with av.open(str(path), "w") as container:
        stream = container.add_stream(codec, rate=8)
        stream.width, stream.height, stream.pix_fmt = width, height, "yuv420p"
        for index in range(frames):
            picture = np.full((height, width, 3), 40, np.uint8)
            picture[height // 4 : height // 2, 8 * index : 8 * index + 32] = (230, 90, 20)
            container.mux(stream.encode(av.VideoFrame.from_ndarray(picture, format="rgb24")))
        container.mux(stream.encode())
    return str(path)


@pytest.mark.parametrize(
    ("name", "codec", "frames", "size"),
    [
        ("hevc.mp4", "libx265", 8, (160, 96)),
        ("old.avi", "mpeg4", 8, (160, 96)),
        ("box.mkv", "libx264", 8, (160, 96)),
        ("portrait.mp4", "libx264", 8, (96, 256)),
        ("four_k.mp4", "libx264", 2, (3840, 2160)),
        ("one_frame.mp4", "libx264", 1, (160, 96)),
    ],
)
def test_clips_that_browsers_may_not_play_are_shown(engine, tmp_path, name, codec, frames, size):
    if codec not in av.codecs_available:
        pytest.skip(f"this PyAV has no {codec}")
    path = write(tmp_path / name, codec, frames, *size)
    last = list(look(engine, Request(path, 8, "builtin", GleanVID)))[-1]
    assert last.notice["kind"] == "quiet", last.notice
    assert f"Used {frames} of {frames} frames" in last.notice["text"]
    tiles = last.viewer["tiles"]
    assert tiles["count"] == frames
    assert abs(tiles["width"] / tiles["height"] - size[0] / size[1]) < 0.05
    assert ("fewer than the 8 asked for" in last.notice["text"]) == (frames < 8)


@pytest.mark.parametrize("content", [b"", b"no film at all" * 99, b"<html>"])
def test_what_is_no_clip_is_refused_in_words(engine, tmp_path, content):
    path = tmp_path / "film.mp4"
    path.write_bytes(content)
    last = list(look(engine, Request(str(path), 8, "builtin", GleanVID)))[-1]
    assert last.notice["kind"] == "problem" and "film.mp4" in last.notice["text"]
    assert last.viewer is None
