import json

import numpy as np
import pytest

from gleanvid.compressors import FastV, GleanVID, SparseVLM
from gleanvid.evaluation.run.clips import named_clips
from gleanvid.evaluation.run.journal import Journal
from gleanvid.evaluation.run.kept_tokens import Job, compress_clips
from tests.evaluation.fakes import FakeModel
from tests.video.clips import write_clip

JOB = Job(GleanVID(0.25), 6)


@pytest.fixture(scope="module")
def clips(tmp_path_factory):
    """Folder of four files: one is in a subfolder, and one is not a video."""
    folder = tmp_path_factory.mktemp("clips")
    (folder / "deep er").mkdir()
    for name in ("a.mp4", "b.mkv", "deep er/a.mp4"):
        write_clip(folder / name, num_frames=8)
    (folder / "broken.mp4").write_text("not a video")
    return folder


def run(clips, out, model=None, job=JOB, on_progress=None):
    with Journal(out / "journal.jsonl", job.settings()) as journal:
        model = model or FakeModel()
        compress_clips(model, named_clips([clips]), job, out, journal, on_progress)
        return dict(journal.rows)


def files(folder):
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file() and path.suffix != ".jsonl"
    }


def test_compress_npz_contains_the_arrays_of_the_compression_record(clips, tmp_path):
    rows = run(clips, tmp_path)
    row = rows["deep er/a.mp4", JOB.key]
    arrays = np.load(tmp_path / row["file"], allow_pickle=False)
    assert row["tokens"] == 54 and row["kept"] == len(arrays["keep"]) == 13
    assert np.array_equal(np.flatnonzero(arrays["mask"]), arrays["keep"])
    assert arrays["mask"].shape == tuple(row["grid"]) == (6, 3, 3)
    assert arrays["budgets"].tolist() == row["budgets"] == arrays["mask"].sum((1, 2)).tolist()
    assert len(arrays["timestamps"]) == 6 and "score/novelty" in arrays


def test_unreadable_video_becomes_an_error_row_and_others_are_compressed(clips, tmp_path):
    steps = []
    rows = run(clips, tmp_path, on_progress=steps.append)
    failed = {name for (name, _), row in rows.items() if "error" in row}
    assert failed == {"broken.mp4"} and rows["broken.mp4", JOB.key]["error"].startswith("VideoErr")
    assert set(files(tmp_path)) == {"a.mp4.npz", "b.mkv.npz", "deep er/a.mp4.npz"}
    assert (steps[-1].done, steps[-1].total, steps[-1].failed) == (4, 4, 1)


def test_second_compress_run_does_only_missing_clips(clips, tmp_path):
    run(clips, tmp_path)
    before = files(tmp_path)
    (tmp_path / "a.mp4.npz").write_bytes(b"")
    (tmp_path / "b.mkv.npz").unlink()
    model = FakeModel()
    run(clips, tmp_path, model)
    assert {name for name, _ in model.encoded} == {"a.mp4", "b.mkv"}
    assert files(tmp_path).keys() == before.keys()
    told = [json.loads(line) for line in (tmp_path / "journal.jsonl").open()]
    assert sum(line.get("item") == "broken.mp4" for line in told) == 1


@pytest.mark.parametrize("method", [FastV(0.25), SparseVLM(0.25)])
def test_compress_without_a_question_refuses_methods_that_need_one(method):
    with pytest.raises(ValueError, match=f"compressor='{method.name}' decides while the model"):
        Job(method)


def test_compress_refuses_two_clips_of_the_same_name(clips):
    with pytest.raises(ValueError, match=r"would both be called a\.mp4"):
        named_clips([clips / "a.mp4", clips / "deep er"])
