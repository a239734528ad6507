import io
from pathlib import Path

import numpy as np
import pytest
from gradio.utils import get_upload_folder
from PIL import Image

from components.viewer import payload
from components.viewer.component import MaskViewer
from components.viewer.payload import pack, publish
from gleanvid import COMPRESSORS, Video, metrics
from gleanvid.run import Run
from tests.components.fake import COLUMNS, ROWS, a_run, runs_of


def run_of(name: str = "gleanvid", frames: int = 8, **settings):
    return runs_of(COMPRESSORS[name](**settings), frames=frames)[0][0]


def mask_of(packed, method: int = 0) -> np.ndarray:
    """Return the mask of a run's first compression stage, read from the packed bytes."""
    stage = packed.value["methods"][method]["stages"][0]
    size = -(-stage["tokens"] // 8)
    bits = np.frombuffer(packed.data, np.uint8, size, stage["mask"])
    return np.unpackbits(bits)[: stage["tokens"]].astype(bool)


def several(frames: int = 8):
    names = ("gleanvid", "uniform", "prunevid", "random")
    return runs_of(*(COMPRESSORS[name]() for name in names), frames=frames)


def test_every_run_has_its_own_masks_and_budgets():
    runs, tokens = several()
    packed = pack(runs, 0, 2, tokens)
    for index, run in enumerate(runs):
        stage = packed.value["methods"][index]["stages"][0]
        assert (mask_of(packed, index) == run.compression.mask.numpy()).all()
        assert stage["budgets"] == run.compression.budgets.tolist()
        assert stage["kept"] == sum(stage["budgets"])
        assert len(stage["rank"]) == run.compression.grid[0]
        assert {score["name"] for score in stage["scores"]} == set(run.compression.scores)
    assert (packed.value["a"], packed.value["b"]) == (0, 2)


def test_novelty_measured_by_the_method_and_novelty_of_the_clip_are_both_sent():
    runs, tokens = several()
    value = pack(runs, tokens=tokens).value
    true = runs[0].compression.trace["novelty"].tolist()
    assert value["methods"][0]["novelty"] == pytest.approx(true, rel=1e-5)
    assert value["methods"][1]["novelty"] is None
    assert value["novelty"] == pytest.approx(true, rel=1e-4)


def test_packed_run_without_features_shows_only_values_stored_in_its_record():
    packed = pack([run_of("uniform")])
    (stage,) = packed.value["methods"][0]["stages"]
    assert stage["scores"] == [] and stage["rank"] is None
    assert packed.value["novelty"] is None
    assert len(packed.data) == -(-stage["tokens"] // 32) * 4


def test_run_opened_from_a_file_shows_its_stored_ranks_and_energies(tmp_path):
    runs, tokens = several()
    found = metrics.diagnose(metrics.debiased(tokens.features), runs[0].compression)
    opened = Run.load(metrics.with_diagnostics(runs[0], found).save(tmp_path))
    kept = pack([opened]).value["methods"][0]["stages"][0]
    fresh = pack(runs[:1], tokens=tokens).value["methods"][0]["stages"][0]
    for name in ("rank", "span", "energy"):
        assert kept[name] == pytest.approx(fresh[name], rel=1e-3, abs=1e-5)


def test_viewer_refuses_runs_of_different_clips_no_run_or_too_many():
    runs, _ = several()
    with pytest.raises(ValueError, match="same clip"):
        pack([runs[0], run_of(frames=6)])
    with pytest.raises(ValueError, match=r"runs=29 must be in \[1, 28\]"):
        pack((runs * 8)[:29])
    with pytest.raises(ValueError, match="runs=0"):
        pack([])
    with pytest.raises(ValueError, match="b=4"):
        pack(runs, 0, 4)


@pytest.mark.parametrize("frames", [1, 7, 8, 33])
def test_every_frame_is_on_the_contact_sheet_and_belongs_to_one_unit(frames):
    packed = pack([run_of(frames=frames)])
    tiles, units = packed.value["tiles"], packed.value["units"]
    sheet = Image.open(io.BytesIO(packed.sheet))
    assert tiles["count"] == frames == len(units) == len(packed.value["seconds"])
    assert sheet.width == tiles["columns"] * tiles["width"]
    assert sheet.height == -(-frames // tiles["columns"]) * tiles["height"]
    assert units == sorted(units) and set(units) == set(range(packed.value["grid"][0]))


def test_frames_are_at_the_contact_sheet_positions_that_the_viewer_script_computes():
    run = run_of(frames=8)
    packed = pack([run])
    tiles, sheet = packed.value["tiles"], Image.open(io.BytesIO(packed.sheet))
    for index, frame in enumerate(run.video.frames):
        left = index % tiles["columns"] * tiles["width"]
        top = index // tiles["columns"] * tiles["height"]
        tile = sheet.crop((left, top, left + tiles["width"], top + tiles["height"]))
        assert np.abs(np.asarray(tile, float) - frame).mean() < 12


def test_contact_sheet_of_a_large_video_stays_within_phone_image_limits():
    video = Video.from_frames(np.zeros((64, 360, 640, 3), np.uint8), 1)
    run = a_run(video, run_of(frames=128).compression, COMPRESSORS["gleanvid"]())
    tiles = pack([run]).value["tiles"]
    rows = -(-tiles["count"] // tiles["columns"])
    assert tiles["columns"] * tiles["width"] * rows * tiles["height"] < 12_000_000
    assert tiles["width"] / tiles["height"] == pytest.approx(16 / 9, rel=0.02)


def test_area_of_the_token_grid_is_sent_as_fractions_of_the_frame():
    left, top, right, bottom = pack([run_of()]).value["area"]
    assert (left, top) == (0, 0)
    assert right == pytest.approx(126 // COLUMNS * COLUMNS / 126)
    assert bottom == pytest.approx(72 // ROWS * ROWS / 72)


def test_viewer_files_with_equal_content_have_equal_names_and_are_stored_once(tmp_path):
    packed = pack([run_of()])
    first, again = publish(packed, tmp_path), publish(packed, tmp_path)
    assert first == again and len(list(tmp_path.iterdir())) == 2
    other = publish(pack([run_of(retention_ratio=0.5)]), tmp_path)
    assert other["sheet"] == first["sheet"] and other["data"] != first["data"]


def test_viewer_component_ignores_values_sent_by_the_page():
    assert MaskViewer().preprocess({"sheet": {"path": "/etc/passwd"}}) is None


@pytest.mark.usefixtures("cache")
def test_name_of_a_viewer_file_depends_on_a_secret_key_of_the_server(monkeypatch):
    """Otherwise anybody with the same clip could find out that a visitor has opened it."""
    content = b"frames"
    names = []
    for key in (payload._KEY, b"that of another server"):
        monkeypatch.setattr(payload, "_KEY", key)
        names.append(payload._write(content, "jpg", Path(get_upload_folder()))["path"])
    assert len(set(names)) == 2
