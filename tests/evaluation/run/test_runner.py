import json
import multiprocessing
import time

import torch

from gleanvid.compressors.gleanvid.ablation import Ablation
from gleanvid.compressors.random import Random
from gleanvid.evaluation.run.journal import Journal
from gleanvid.evaluation.run.rows import evidence_kept
from gleanvid.evaluation.run.runner import evaluate
from gleanvid.evaluation.run.setups import Setup, grid
from gleanvid.types import Compression
from tests.evaluation.fakes import FakeBenchmark, FakeModel, without_times

SETUPS = grid(["uniform", "random"], [0.5, 0.1], 6)


def run(path, model=None, benchmark=None, setups=SETUPS, limit=None, **options):
    benchmark = benchmark or FakeBenchmark()
    with Journal(path, {"model": "fake"}) as journal:
        items = benchmark.items(limit)
        evaluate(model or FakeModel(), benchmark, items, setups, journal, **options)
        return dict(journal.rows)


def lines(path):
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()][1:]


def test_runner_asks_every_question_once_under_every_setup(tmp_path):
    model = FakeModel()
    rows = run(tmp_path / "j", model)
    assert len(rows) == 20 * 5 and len(lines(tmp_path / "j")) == 100
    assert len(set(model.asked)) == len(model.asked) == 100
    assert not any("error" in row for row in rows.values())


def test_runner_encodes_a_clip_once_per_frame_count_and_prefills_once_per_setup(tmp_path):
    model = FakeModel()
    longer = [Setup(setup.method, 9) for setup in SETUPS[:2]]
    run(tmp_path / "j", model, setups=[*SETUPS, *longer])
    assert len(model.encoded) == len(set(model.encoded)) == 5 * 2
    assert len(model.read) == 5 * 7


def run_slowly(path):
    torch.set_num_threads(1)
    run(path, FakeModel(delay_s=0.05))


def test_killed_run_resumes_without_loss_or_repetition(tmp_path):
    path = tmp_path / "j"
    process = multiprocessing.get_context("fork").Process(target=run_slowly, args=[path])
    process.start()
    try:
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline and not (path.exists() and path.stat().st_size > 4000):
            assert process.is_alive()
            time.sleep(0.005)
    finally:
        process.kill()
        process.join()
    kept = path.read_bytes().count(b"\n") - 1
    assert 5 < kept < 100
    model = FakeModel()
    rows = run(path, model)
    assert len(model.asked) == 100 - kept
    assert without_times(rows) == without_times(run(tmp_path / "whole"))
    assert len({(row["item"], row["setup"]) for row in lines(path)}) == len(lines(path)) == 100


def test_unreadable_clip_is_recorded_as_failed_and_other_clips_are_answered(tmp_path):
    seen = []
    broken = FakeBenchmark(broken=("clip 2",))
    rows = run(tmp_path / "j", benchmark=broken, on_progress=seen.append)
    failed = [row for row in rows.values() if "error" in row]
    assert len(rows) == 100 and len(failed) == 20 and seen[-1].failed == 20
    assert {row["item"][0] for row in failed} == {"2"}
    assert all(row["error"] == "VideoError: clip 2 has no video track" for row in failed)
    again = run(tmp_path / "j")  # meanwhile, the clip's file was repaired
    assert without_times(again) == without_times(run(tmp_path / "whole"))


def test_failing_compressor_is_recorded_and_other_compressors_are_run(tmp_path):
    rows = run(tmp_path / "j", FakeModel(fails_on="random"))
    failed = {key for key, row in rows.items() if "error" in row}
    assert failed == {key for key in rows if key[1].startswith("random")} and len(failed) == 40


def test_journal_rows_contain_counts_of_all_tokens_and_of_evidence_tokens(tmp_path):
    benchmark = FakeBenchmark()
    rows = run(tmp_path / "j", benchmark=benchmark)
    for item in benchmark.items():
        full = rows[item.id, SETUPS[0].key]
        assert full["tokens"] == [54, 54, 54.0]
        if item.answer:
            assert full["evidence"] == [2 * item.answer] * 4
            few = rows[item.id, SETUPS[2].key]["evidence"]
            assert few[0] == 2 * item.answer and few[1] == few[2] <= few[3] == min(few[0], 5)
        else:
            assert "evidence" not in full  # this question has no evidence tokens
        assert rows[item.id, SETUPS[2].key]["tokens"] == [54, 5, 5.0]


def test_evidence_kept_returns_counts_of_tokens_objects_and_moments():
    shown = torch.zeros(3, 2, 6, dtype=torch.bool)  # three objects, two units of six tokens
    shown[0, 0, :2] = shown[0, 1, :2] = shown[1, 1, 4] = True  # the third object is never visible
    keep = torch.tensor([0, 3, 7])
    group = torch.tensor([0, 0, -1, 1, -1, -1, -1, 2, -1, -1, -1, -1])
    record = Compression(keep, (2, 2, 3), group, (group >= 0).float())
    assert evidence_kept(record, shown.flatten(1)) == {
        # Number of tokens that show an object, number of them kept, number of them kept or
        # merged, and the largest number that 3 kept tokens can reach.
        "evidence": [5, 2, 3, 3],
        "things": [2, 1],
        "moments": [3, 2],
    }


def test_random_selection_is_run_with_five_seeds_and_other_methods_once():
    drawn = Setup(Random(0.1), 6).draws
    assert [setup.method.seed for setup in drawn] == [0, 1, 2, 3, 4]
    assert drawn[0].key == "random(retention_ratio=0.1)@6"
    assert len({setup.key for setup in drawn}) == 5
    assert [len(Setup(Ablation(budgeting=part), 6).draws) for part in ("random", "fixed")] == [5, 1]


def test_likelihood_and_text_answers_are_judged_separately(tmp_path):
    benchmark = FakeBenchmark()
    rows = run(tmp_path / "j", benchmark=benchmark, ways=("likelihood", "text"))
    for item in benchmark.items():
        row = rows[item.id, SETUPS[0].key]
        assert list(row["said"]) == ["likelihood", "text"]
        assert row["right"] == [said == item.right_option for said in row["said"].values()]
