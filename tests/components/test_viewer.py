"""What goes to the browser says exactly what the run says."""

from __future__ import annotations

import io
import subprocess
from shutil import which

import numpy as np
import pytest
from PIL import Image

from components.viewer import SCRIPT, TEMPLATE, MaskViewer, pack, publish
from gleanvid import COMPRESSORS, Video
from tests.components.fake import COLUMNS, ROWS, Library, a_run, moving_square


def run_of(name: str = "gleanvid", frames: int = 8, **settings):
    video, library = moving_square(frames), Library()
    compressor = COMPRESSORS[name](**settings)
    tokens = library.encode(video, library.load_model("builtin"))[0].tokens
    return a_run(video, compressor.compress(tokens), compressor)


def unpack(packed, total: int):
    """(mask, {channel: scores}) of the first method, read as the script reads it."""
    method, data = packed.value["methods"][0], np.frombuffer(packed.data, np.uint8)
    size = -(-total // 8)
    mask, offset, scores = np.unpackbits(data[:size])[:total].astype(bool), size, {}
    for channel in method["channels"]:
        steps, offset = data[offset : offset + total], offset + total
        width = channel["high"] - channel["low"]
        scores[channel["name"]] = channel["low"] + steps / 255 * width
    assert offset == len(data)
    return mask, scores


@pytest.mark.parametrize("ratio", [0.05, 0.25, 1.0])
def test_masks_and_scores_survive_the_trip(ratio):
    run = run_of(retention_ratio=ratio)
    record = run.compression
    mask, scores = unpack(pack(run), record.num_tokens)
    assert (mask == record.mask.numpy()).all()
    assert list(scores)[:3] == ["joint", "lrs", "scs"]
    assert set(scores) == set(record.scores)
    for name, score in scores.items():
        true = record.scores[name].float().numpy()
        assert np.abs(score - true).max() <= (true.max() - true.min()) / 255 + 1e-6


def test_budgets_and_novelty_are_those_of_the_run():
    run = run_of()
    method = pack(run).value["methods"][0]
    assert method["budgets"] == run.compression.budgets.tolist()
    assert sum(method["budgets"]) == method["kept"] == run.compression.num_kept
    assert method["uniform"] * run.compression.grid[0] == pytest.approx(method["kept"])
    assert method["novelty"] == pytest.approx(run.compression.trace["novelty"].tolist(), abs=1e-4)


def test_a_method_without_scores_packs_its_mask_alone():
    packed = pack(run_of("uniform"))
    method = packed.value["methods"][0]
    assert method["channels"] == [] and method["novelty"] is None
    assert len(packed.data) == -(-method["tokens"] // 8)


@pytest.mark.parametrize("frames", [1, 7, 8, 33])
def test_every_frame_is_on_the_sheet_and_in_one_step(frames):
    packed = pack(run_of(frames=frames))
    tiles, units = packed.value["tiles"], packed.value["units"]
    sheet = Image.open(io.BytesIO(packed.sheet))
    assert tiles["count"] == frames == len(units) == len(packed.value["seconds"])
    assert sheet.width == tiles["columns"] * tiles["width"]
    assert sheet.height == -(-frames // tiles["columns"]) * tiles["height"]
    assert units == sorted(units) and set(units) == set(range(packed.value["grid"][0]))


def test_frames_stand_where_the_script_looks_for_them():
    run = run_of(frames=8)
    packed = pack(run)
    tiles, sheet = packed.value["tiles"], Image.open(io.BytesIO(packed.sheet))
    for index, frame in enumerate(run.video.frames):
        left = index % tiles["columns"] * tiles["width"]
        top = index // tiles["columns"] * tiles["height"]
        tile = sheet.crop((left, top, left + tiles["width"], top + tiles["height"]))
        assert np.abs(np.asarray(tile, float) - frame).mean() < 12


def test_sheets_of_large_videos_stay_within_what_phones_can_show():
    video = Video.from_frames(np.zeros((64, 720, 1280, 3), np.uint8))
    run = a_run(video, run_of(frames=128).compression, COMPRESSORS["gleanvid"]())
    tiles = pack(run).value["tiles"]
    rows = -(-tiles["count"] // tiles["columns"])
    assert tiles["columns"] * tiles["width"] * rows * tiles["height"] < 12_000_000
    assert tiles["width"] / tiles["height"] == pytest.approx(16 / 9, rel=0.02)


def test_the_token_area_is_a_share_of_the_picture():
    left, top, right, bottom = pack(run_of()).value["area"]
    assert (left, top) == (0, 0)
    assert right == pytest.approx(126 // COLUMNS * COLUMNS / 126)
    assert bottom == pytest.approx(72 // ROWS * ROWS / 72)


def test_files_are_named_by_their_content(tmp_path):
    packed = pack(run_of())
    first, again = publish(packed, tmp_path), publish(packed, tmp_path)
    assert first == again and len(list(tmp_path.iterdir())) == 2
    other = publish(pack(run_of(retention_ratio=0.5)), tmp_path)
    assert other["sheet"] == first["sheet"] and other["data"] != first["data"]


def test_nothing_from_outside_reaches_the_template():
    assert "${" not in TEMPLATE and "{{" not in TEMPLATE
    assert "innerHTML" not in SCRIPT
    assert MaskViewer().preprocess({"sheet": {"path": "/etc/passwd"}}) is None


@pytest.mark.skipif(which("node") is None, reason="needs node")
def test_the_script_parses(tmp_path):
    path = tmp_path / "viewer.js"
    path.write_text(f"(element, props, watch) => {{ {SCRIPT} }}", encoding="utf-8")
    subprocess.run(["node", "--check", path], check=True)
