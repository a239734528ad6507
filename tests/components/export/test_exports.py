import csv
import json
from pathlib import Path
from types import SimpleNamespace

import gradio as gr
import numpy as np
import pytest
import torch

from components.export import exports, opening
from components.export.panel import GONE, NOTHING, writing
from components.export.take_away import web_page_file
from components.jobs.diagnosed import diagnosed
from components.jobs.engine import Engine
from components.jobs.examples import examples
from components.jobs.local import LocalBackend
from components.page import first
from gleanvid import GleanVID, Uniform
from gleanvid.plots import paper
from tests.components.fake import FakeBackend, runs_of

SENT = SimpleNamespace(client=SimpleNamespace(host="10.0.0.1"))  # a fake gr.Request of a visitor


def of(ids, asked, curve="", units=""):
    """Return the arguments of an export."""
    return ids, "builtin", 0, asked, curve, units, SENT


@pytest.fixture(scope="module")
def first_screen():
    """Return an engine with the saved runs of the first example, and the ids of these runs."""
    engine, ids = Engine(LocalBackend({})), first.load().runs
    first.offer(engine, examples()[0], ids)
    return engine, ids


@pytest.fixture(scope="module")
def runs():
    return diagnosed(*runs_of(GleanVID(0.25), Uniform(0.5)))


def test_tokens_per_unit_in_the_csv_sum_to_all_kept_tokens(runs, tmp_path):
    with exports.units_csv(runs, tmp_path).open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == sum(run.compression.grid[0] for run in runs)
    first = [row for row in rows if row["run"] == "GleanVID 25 %"]
    assert sum(int(row["tokens_kept"]) for row in first) == runs[0].compression.num_kept
    for rank in ("effective_rank_of_unit", "effective_rank_so_far"):
        assert all(float(row[rank]) > 0 for row in first)


@pytest.mark.parametrize(("ids", "sentence"), [([], NOTHING), (["gone", "too"], GONE)])
def test_export_of_no_runs_or_deleted_runs_is_refused_with_a_message(ids, sentence):
    (begun, _), (said, file) = writing(Engine(FakeBackend()))(*of(ids, "csv"))
    assert begun == {"text": "Writing Metrics per temporal unit (CSV)…", "kind": "quiet"}
    assert said == {"text": sentence, "kind": "problem"} and file == gr.skip()


@pytest.mark.usefixtures("cache")
@pytest.mark.parametrize("kind", exports.KINDS)
def test_result_shown_at_start_can_be_exported_in_every_format(kind, first_screen):
    engine, ids = first_screen
    *_, (said, file) = writing(engine)(*of(ids, kind))
    assert said["text"] == "" and Path(file["value"]).stat().st_size > 500


@pytest.mark.usefixtures("cache")
def test_figure_has_the_runs_of_the_curves_and_the_named_units(first_screen, monkeypatch):
    engine, ids = first_screen
    asked = []
    monkeypatch.setattr(
        paper, "composed", lambda *words: asked.append(words) or paper.curves(*words[:1])
    )
    for picked, units in (("", ""), (f"{ids[0]} {ids[3]} gone", "1, 12")):
        *_, (said, file) = writing(engine)(*of(ids, f"pdf {picked}", units=units))
        assert said["text"] == ""
    assert Path(file["value"]).name == f"{examples()[0].path.stem}-gleanvid-10pct-figure.pdf"
    (both, every, *_), (two, chosen, *_) = asked
    assert [run.compressor["name"] for run in both] == ["gleanvid", "full"] and every is None
    assert [run.compressor["name"] for run in two] == ["gleanvid", "vcast"] and chosen == [0, 11]
    *_, (said, _) = writing(engine)(*of(ids, "svg", units="0 17"))
    assert "Units are numbers from 1 to 16" in said["text"]


@pytest.mark.usefixtures("cache")
def test_export_that_exceeds_the_deadline_ends_with_a_message(first_screen, monkeypatch):
    engine, ids = first_screen
    monkeypatch.setattr(engine.queue, "deadline_s", 0.0)
    *_, (said, _) = writing(engine)(*of(ids, "csv"))
    assert said["text"].startswith("Stopped after 0 seconds")


def test_metrics_are_json_without_nan(runs, tmp_path):
    text = exports.metrics_json(runs, tmp_path).read_text(encoding="utf-8")
    told = json.loads(text, parse_constant=lambda name: pytest.fail(name))
    assert told[0]["diagnostics"]["coverage_error"] >= 0
    assert [entry["label"] for entry in told] == ["GleanVID 25 %", "Uniform 50 %"]


def test_exported_mask_marks_the_tokens_that_its_run_kept(runs, tmp_path):
    arrays = np.load(exports.masks_npz(runs, tmp_path), allow_pickle=False)
    mask = arrays["Uniform 50 %/mask"]
    assert mask.shape == runs[1].compression.grid
    assert np.array_equal(np.flatnonzero(mask), runs[1].compression.keep.numpy())


def test_exported_video_shows_both_sides_at_every_frame(runs, tmp_path):
    import av

    path = exports.overlay_clip(runs, tmp_path)
    assert path.suffix == ".mp4"
    with av.open(str(path)) as container:
        frames = [frame.to_ndarray(format="rgb24") for frame in container.decode(video=0)]
    assert len(frames) == len(runs[0].video)
    b, a = (int(run.compression.budgets[0]) for run in runs)
    bright = [half.mean() for half in np.array_split(frames[0][24:], 2, axis=1)]
    # Side A, in the left half, keeps more tokens, so its half is brighter.
    assert a > b and bright[0] > bright[1]


def test_exported_run_can_be_opened_again(runs, tmp_path):
    back = opening.opened(str(exports.saved_run(runs, tmp_path)))
    assert back.answer == runs[0].answer
    assert torch.equal(back.compression.keep, runs[0].compression.keep)
    assert np.array_equal(back.video.frames, runs[0].video.frames)


def test_exported_web_page_contains_every_run_and_its_relevance(first_screen):
    engine, ids = first_screen
    text = Path(web_page_file(engine, ids, "builtin", 0)).read_text(encoding="utf-8")
    assert len(text) < 5_000_000 and "GRADIO" not in text and str(Path.cwd()) not in text
    found = json.loads(text.split('id="gv-run">')[1].split("</script>")[0])
    assert len(found["value"]["methods"]) == len(ids) == len(found["answers"])
    assert found["value"]["relevance"] and found["value"]["truth"]
