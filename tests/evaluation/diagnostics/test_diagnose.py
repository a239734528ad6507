import csv
import json

import numpy as np
import pytest
import torch

from components.session.actions import figures
from gleanvid import ask, metrics
from gleanvid.cli import main
from gleanvid.compressors import COMPRESSORS
from gleanvid.evaluation.diagnostics import diagnose, diagnosis
from gleanvid.evaluation.run.clips import find_clips
from gleanvid.models import load_model
from gleanvid.pipeline import MAX_SIDE
from gleanvid.video import read_video
from tests.video.clips import write_clip


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder with two clips, a broken video, and a file of another type."""
    place = tmp_path_factory.mktemp("clips")
    write_clip(place / "a.mp4", num_frames=12)
    write_clip(place / "b.mp4", num_frames=30, size=(64, 64))
    (place / "broken.mp4").write_bytes(b"no video at all" * 20)
    (place / "notes.txt").write_text("no clip")
    return place


@pytest.fixture(scope="module")
def rows(folder):
    torch.set_num_threads(1)
    model = load_model("builtin", "cpu")
    clips = find_clips([folder])
    names = ["gleanvid", "uniform", "sparsevlm", "dycoke"]
    return list(diagnose.diagnose_clips(clips, model, names, [0.5, 0.05], 8))


@pytest.fixture
def unsaved(monkeypatch):
    """Draw figures without saving them: saving takes seconds, and other tests cover it."""
    monkeypatch.setattr("gleanvid.plots.paper.save_figure", lambda figure, path: None)


def measured(rows, **wanted):
    found = [row for row in rows if isinstance(row, diagnose.Row)]
    return [row for row in found if all(getattr(row, n) == v for n, v in wanted.items())]


def test_diagnose_measures_every_clip_at_every_ratio_and_names_a_broken_clip(rows):
    for name in ("gleanvid", "uniform"):
        for ratio in (0.5, 0.25, 0.05):
            assert {row.clip for row in measured(rows, name=name, retention_ratio=ratio)} == {
                "a.mp4",
                "b.mp4",
            }
    broken = [row for row in rows if isinstance(row, diagnose.Skipped) and not row.name]
    assert [row.clip for row in broken] == ["broken.mp4"]


def test_unreachable_retention_ratio_is_reported_and_other_ratios_are_measured(rows):
    out = [row for row in rows if isinstance(row, diagnose.Skipped) and row.name == "dycoke"]
    assert {row.retention_ratio for row in out} >= {0.05}
    assert all("out of reach" in row.reason for row in out)


def test_compared_selection_rules_have_identical_budgets(rows):
    for clip in ("a.mp4", "b.mp4"):
        found = measured(rows, clip=clip, part="selection")
        assert [row.name for row in found] == list(diagnose.SELECTIONS)
        assert len({row.budget_gini for row in found}) == 1
        assert len({row.kept for row in found}) == 1


def test_diagnose_writes_means_over_clips_and_one_csv_row_per_measurement(rows, tmp_path):
    good = measured(rows)
    skipped = [row for row in rows if isinstance(row, diagnose.Skipped)]
    diagnosis.write(tmp_path, {"model": "m", "num_frames": 8}, good, skipped)
    found = json.loads((tmp_path / "diagnosis.json").read_text())
    values = [row.effective_rank for row in measured(rows, name="gleanvid", retention_ratio=0.05)]
    assert found["effective_dimension"]["gleanvid"]["0.05"] == pytest.approx(np.mean(values))
    assert found["clips_measured"] == 2
    with (tmp_path / "diagnosis.csv").open() as sheet:
        assert len(list(csv.DictReader(sheet))) == len(good)
    for name in ("effective_dimension", "spatial_iou", "complementarity"):
        for ending in ("pdf", "png"):
            assert (tmp_path / f"{name}.{ending}").stat().st_size > 1000
    page = (tmp_path / "diagnosis.md").read_text()
    assert "broken.mp4" in page and "(2 clips)" in page
    error = np.mean(
        [row.coverage_error for row in measured(rows, name="uniform", retention_ratio=0.5)]
    )
    assert "| uniform | 0.5 |" in page and f"| {error:.2g} ± " in page


@pytest.mark.usefixtures("unsaved")
def test_diagnose_exits_nonzero_for_failed_clips_only(folder, tmp_path, capsys):
    asked = ["--compressor", "uniform", "--retention-ratio", "0.25", "--num-frames", "4"]
    whole = ["diagnose", str(folder / "broken.mp4"), *asked, "--out", str(tmp_path / "none")]
    assert main(whole) == 1
    said = capsys.readouterr().err
    assert "broken.mp4" in said and "no clip could be measured" in said
    asked[1], asked[3] = "uniform,dycoke", "0.05"
    assert main(["diagnose", str(folder / "a.mp4"), *asked, "--out", str(tmp_path / "one")]) == 0
    shown = capsys.readouterr()
    assert "uniform" in shown.out and "dycoke at 0.05" in shown.err


@pytest.fixture(scope="module")
def recordings(folder, tmp_path_factory):
    """Folder with a recording of each of two clips, without saliency and keys."""
    place = tmp_path_factory.mktemp("recordings")
    asked = ["--compressor", "full", "--num-frames", "4", "--device", "cpu", "--out", str(place)]
    assert main(["record", str(folder / "a.mp4"), str(folder / "b.mp4"), *asked]) == 0
    return place


@pytest.mark.usefixtures("unsaved")
def test_recording_without_a_signal_skips_only_the_methods_that_need_it(
    recordings, tmp_path, capsys
):
    asked = ["--compressor", "full,uniform,holitom,visionzip", "--retention-ratio", "0.5,0.25"]
    assert main(["diagnose", str(recordings), *asked, "--out", str(tmp_path)]) == 0
    told = capsys.readouterr().err
    for name in ("holitom", "visionzip"):
        assert told.count(f"skipped: {name}: This recording holds no ") == 1
    with (tmp_path / "diagnosis.csv").open() as sheet:
        rows = [row["name"] for row in csv.DictReader(sheet) if row["part"] == "compressor"]
    assert rows == ["full", "uniform", "uniform"] * 2
    page = (tmp_path / "diagnosis.md").read_text()
    assert "- holitom: This recording holds no saliency" in page and "(2 clips)" in page
    alone = ["--compressor", "holitom", "--out", str(tmp_path / "none")]
    assert main(["diagnose", str(recordings), *alone]) == 1
    assert "no compressor could be measured" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (["--retention-ratio", "1.5"], "retention_ratio=1.5"),
        (["--compressor", "none_such"], "none_such"),
    ],
)
def test_invalid_diagnose_options_exit_2_with_an_error_message(
    folder, change, said, capsys, tmp_path
):
    assert main(["diagnose", str(folder), *change, "--out", str(tmp_path)]) == 2
    assert said in capsys.readouterr().err


def test_diagnose_result_has_the_metrics_that_the_app_draws(folder):
    model, method = load_model("builtin", "cpu"), COMPRESSORS["gleanvid"](0.4)
    rows = diagnose.diagnose_clips([folder / "b.mp4"], model, ["gleanvid"], [0.4], 8)
    (row,) = measured(rows, name="gleanvid", retention_ratio=0.4)
    video = read_video(folder / "b.mp4", 8, max_side=MAX_SIDE)
    tokens = model.encode(video).tokens
    record, features = method.compress(tokens), metrics.debiased(tokens.features)
    expected = {
        "effective_rank": metrics.effective_dimension(features, record),
        "residual_energy": metrics.residual_energy(features, record),
        "later_residual_energy": metrics.later_residual_energy(features, record),
        "coverage_error": metrics.coverage_error(features, record),
        "energy_outside_span": metrics.energy_outside_span(features, record),
        "budget_gini": metrics.budget_gini(record),
        "kept": record.num_kept / record.num_tokens,
    }
    found = {name: getattr(row, name) for name in expected}
    assert found == pytest.approx(expected) and len(set(expected.values())) == 7
    np.testing.assert_array_equal(row.spatial_iou, metrics.spatial_iou_curve(record))
    np.testing.assert_array_equal(row.random_iou, metrics.random_iou_curve(record))

    (run,) = figures.measured([ask(video, "What?", model, method, 1)], tokens)
    shown = metrics.diagnostics_of(run)
    for name in ("effective_rank", "residual_energy", "coverage_error", "energy_outside_span"):
        assert getattr(shown, name) == pytest.approx(expected[name])
