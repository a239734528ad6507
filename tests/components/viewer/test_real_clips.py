from __future__ import annotations

import numpy as np
import pytest

from components.session.actions.ask import Habits, ask
from components.session.actions.compare import compare
from components.session.actions.plans import plans
from components.session.actions.preview import preview
from components.session.request import Request, Sides
from components.session.work.engine import Engine
from components.session.work.local import LocalBackend
from gleanvid import COMPRESSORS
from gleanvid.models.loading.load import BUILTIN

av = pytest.importorskip("av")
pytestmark = [
    pytest.mark.skipif(not (BUILTIN / "model.safetensors").is_file(), reason="no built-in weights"),
    pytest.mark.usefixtures("cache"),
]


@pytest.fixture(scope="module")
def engine():
    return Engine(LocalBackend({}))


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
        ("portrait.mp4", "libx264", 8, (96, 256)),
        ("one_frame.mp4", "libx264", 1, (160, 96)),
    ],
)
def test_clips_in_formats_that_browsers_cannot_play_are_shown(
    engine, tmp_path, name, codec, frames, size
):
    if codec not in av.codecs_available:
        pytest.skip(f"this PyAV has no {codec}")
    path = write(tmp_path / name, codec, frames, *size)
    last = list(preview(engine, Request(path, 8, "builtin"), Sides()))[-1]
    assert last.notice["kind"] == "quiet", last.notice
    assert f"Used {frames} of {frames} frame" in last.notice["text"]
    tiles = last.viewer["tiles"]
    assert tiles["count"] == frames
    assert abs(tiles["width"] / tiles["height"] - size[0] / size[1]) < 0.05
    assert ("fewer than the 8 asked for" in last.notice["text"]) == (frames < 8)


def test_question_of_10000_characters_is_answered_and_so_is_the_next_question(engine, tmp_path):
    path = write(tmp_path / "clip.mp4", "libx264", 8, 160, 96)
    request = Request(path, 8, "builtin", sampling={"max_new_tokens": 4})
    for question in (("where is it? " * 770)[:10_000], "What moves?"):
        engine.pages.start("me")
        shown = list(ask(engine, "me", request, Sides(question=question), Habits(both=False)))
        last = shown[-1]
        assert last.done and last.notice["text"].startswith("Used 8 of 8"), last.notice
        given = next(part.answers for part in reversed(shown) if part.answers)
        assert {item["question"] for item in given} == {question.strip()}
        assert len(given) == 1 and all(item["ttft_s"] > 0 for item in given)


def test_ratio_below_a_method_s_minimum_is_explained_and_the_next_question_works(engine, tmp_path):
    path = write(tmp_path / "clip.mp4", "libx264", 8, 160, 96)

    def asked(share):
        engine.pages.start("me")
        settings, sampling = {"retention_ratio": share}, {"max_new_tokens": 4}
        request = Request(path, 8, "builtin", "fastv", settings, sampling=sampling)
        return list(ask(engine, "me", request, Sides(question="What moves?")))

    refused = asked(0.15)[-1]
    assert refused.done and refused.notice["kind"] == "problem" and not refused.answers
    assert "retention_ratio=0.15 is out of reach for FastV" in refused.notice["text"]
    assert any(part.runs for part in asked(0.5)) and not engine.pages.has("me")
    engine.pages.start("me")
    request = Request(path, 8, "builtin", sampling={"max_new_tokens": 4})
    planned = plans(["fastv", "uniform"], [0.15], lambda name, share: COMPRESSORS[name](share))
    rows = list(compare(engine, "me", request, "What moves?", lambda: planned))[-1].rows
    assert [row.state for row in rows] == ["done", "failed", "done"]
    assert "out of reach for FastV" in rows[1].error
