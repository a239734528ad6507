import threading
from dataclasses import replace
from functools import partial
from pathlib import Path
from types import SimpleNamespace

import pytest

from components.compare import rows
from components.compare.comparing import compare
from components.compare.plans import plans
from components.jobs import clock
from components.jobs.engine import Engine
from components.jobs.queue import ModelQueue
from components.jobs.request import Request
from components.viewer.payload import MAX_METHODS
from gleanvid import COMPRESSORS
from gleanvid.metrics import budget_gini, diagnostics_of
from tests.components.fake import FakeBackend, write_clip

pytestmark = pytest.mark.usefixtures("cache")


def make(name, ratio):
    return COMPRESSORS[name](retention_ratio=ratio)


def compared(
    engine,
    clip,
    names,
    ratios=(0.25,),
    making=make,
    question="What moves?",
    model="builtin",
    **more,
):
    engine.pages.start("me")
    request = Request(clip, 8, model, sampling={"max_new_tokens": 64})
    planned = partial(plans, names, ratios, making)
    return list(compare(engine, "me", request, question, planned, **more))


def test_comparison_lists_all_tokens_first_then_every_method_at_every_ratio():
    # The methods are passed in the order of clicks; rows have the order of COMPRESSORS.
    found = plans(["random", "full", "uniform"], [0.5, 0.1], make)
    assert [plan.label for plan in found] == [
        "All tokens",
        *("Uniform 10 %", "Uniform 50 %", "Random 10 %", "Random 50 %"),
    ]
    assert found[2].make().retention_ratio == 0.5


@pytest.mark.parametrize(
    ("names", "ratios", "sentence"),
    [
        ([], [0.1], "Choose at least one"),
        (["uniform"], [], "Choose at least one"),
        (["full"], [0.1], "Choose at least one"),
        (["uniform", "random"], [n / 100 for n in range(1, 30)], "the limit is"),
    ],
)
def test_comparison_of_no_methods_or_too_many_rows_is_refused(names, ratios, sentence):
    with pytest.raises(ValueError, match=sentence):
        plans(names, ratios, make)


def test_comparison_rows_finish_one_by_one_after_a_single_encoding(clip):
    library = FakeBackend()
    engine = Engine(library)
    shown = compared(engine, clip, ["gleanvid", "uniform"])
    counts = [sum(row.state == "done" for row in part.rows) for part in shown if part.rows]
    assert counts == sorted(counts) and set(counts) == {0, 1, 2, 3}
    assert (library.reads, library.encodes) == (1, 1)
    last = shown[-1]
    assert last.done and len(last.runs) == 3 and len(last.viewer["methods"]) == 3
    assert (last.viewer["a"], last.viewer["b"]) == (1, 0)
    assert engine.runs.get(last.runs[0]).compressor["name"] == "gleanvid"
    assert len(engine.queue) == 0 and not engine.pages.has("me")


def test_failing_compressor_becomes_a_comparison_row_with_its_error(clip):
    def broken(name, ratio):
        if name == "random":
            raise ValueError("random cannot do that here")
        return make(name, ratio)

    last = compared(Engine(FakeBackend()), clip, ["random", "uniform"], making=broken)[-1]
    assert last.notice["text"].startswith("2 rows done, 1 refused. Used 8 of")
    rows = last.rows
    assert [row.state for row in rows] == ["done", "done", "failed"]
    assert rows[2].error == "random cannot do that here"


def test_comparison_row_past_its_deadline_fails_and_the_next_row_is_tried(clip):
    engine = Engine(FakeBackend(words=1000, pause_s=0.02), queue=ModelQueue(deadline_s=0.1))
    rows = compared(engine, clip, ["uniform"])[-1].rows
    assert [row.state for row in rows] == ["failed", "failed"]
    assert all("longer than 0.1 seconds" in row.error for row in rows)


def test_stopped_comparison_keeps_its_finished_rows(clip):
    library = FakeBackend(pause_s=0.01)
    engine = Engine(library)
    engine.pages.start("me")
    request = Request(clip, 8, "builtin")
    names = ["gleanvid", "uniform", "random"]
    running = compare(engine, "me", request, "What?", lambda: plans(names, [0.2], make))
    for part in running:
        if part.rows and part.rows[0].state == "done":
            break
    library.words = 100_000
    threading.Timer(0.1, engine.pages.stop, ["me"]).start()
    last = list(running)[-1]
    assert last.notice["text"].startswith("Stopped: 1 of 4 rows done. Used 8 of") and last.done
    assert [row.state for row in last.rows] == ["done"]
    assert len(last.viewer["methods"]) == 1 and last.runs == [last.rows[0].run_id]
    assert engine.runs.get(last.runs[0]) is last.rows[0].run
    assert len(engine.queue) == 0 and engine.pages.start("me")


@pytest.mark.parametrize("again", [["uniform"], ["uniform", "random"]], ids=["before", "again"])
def test_pinned_side_a_stays_after_a_comparison_if_the_viewer_has_its_run(clip, again):
    engine, pinned = Engine(FakeBackend()), make("random", 0.25).settings()
    before = compared(engine, clip, ["random"])[-1]
    last = compared(engine, clip, again, tried=before.runs, pinned=pinned)[-1]
    methods = [engine.runs.get(run_id).compressor["name"] for run_id in last.runs]
    assert methods[:3] == ["uniform", "random", "full"] and (
        last.viewer["a"],
        last.viewer["b"],
    ) == (1, 0)
    gone = compared(engine, clip, ["uniform"], tried=[], pinned=pinned)[-1]
    assert engine.runs.get(gone.runs[1]).compressor["name"] == "full"


def test_earlier_runs_are_listed_in_the_viewer_after_the_compared_runs(clip):
    engine = Engine(FakeBackend())
    before = compared(engine, clip, ["uniform", "random"], question="What rests?")[-1]
    again = compared(engine, clip, ["gleanvid"], tried=before.runs)[-1]
    names = ["GleanVID 25 %", "All tokens", "Uniform 25 %", "All tokens (2)", "Random 25 %"]
    assert [method["label"] for method in again.viewer["methods"]] == names
    assert again.runs[2:] == before.runs == again.viewer["runs"][2:]
    assert (again.viewer["a"], again.viewer["b"]) == (1, 0)
    # the run that was already in the viewer is not listed twice
    last = compared(engine, clip, ["gleanvid"], tried=again.runs)[-1]
    assert [method["label"] for method in last.viewer["methods"]] == names


def test_comparison_rows_that_do_not_fit_into_the_viewer_also_have_run_ids(clip):
    engine = Engine(FakeBackend())
    wide = compared(engine, clip, ["uniform"], [n / 100 for n in range(5, 33)])[-1]
    assert wide.notice["text"].startswith("29 rows done. Used 8 of ")
    assert len(wide.viewer["methods"]) == len(wide.viewer["runs"]) == MAX_METHODS
    lines = rows.table_view(wide.rows, rows.Asked(), done=True)["rows"]
    assert sorted(line["id"] for line in lines) == sorted(wide.runs)
    assert len(lines) == 29 and all(engine.runs.get(line["id"]) for line in lines)


@pytest.mark.parametrize(
    ("model", "passes"), [("vllm:x", [64, 64]), ("builtin", [1, *2 * [64, 1, 1, 1, 1]])]
)
def test_warm_up_pass_precedes_the_first_timed_row_except_on_a_vllm_server(
    clip, model, passes, monkeypatch
):
    """A vLLM server needs no warm-up pass; the pass would fill its prefix cache."""
    monkeypatch.setattr(clock, "PASSES_S", 60)

    class Counting(FakeBackend):
        def load_model(self, name):
            return SimpleNamespace(name=name)

        def stream_answer(self, question, model, stop):
            lengths.append(question.sampling.max_new_tokens)
            return super().stream_answer(question, model, stop)

    lengths = []
    last = compared(Engine(Counting(words=1)), clip, ["uniform"], model=model)[-1]
    assert [row.state for row in last.rows] == ["done", "done"] and lengths == passes


def test_compared_times_are_the_median_of_several_passes_with_spread(clip, monkeypatch):
    monkeypatch.setattr(clock, "PASSES_S", 60)

    class Slowing(FakeBackend):
        def stream_answer(self, question, model, stop):
            *words, run = super().stream_answer(question, model, stop)
            yield from words
            seconds.append(0.1 * (1 + len(seconds)))
            yield replace(run, cost=replace(run.cost, prefill_s=seconds[-1]))

    seconds = []
    made = compared(Engine(Slowing(words=1)), clip, ["uniform"])[-1].rows
    # Median of five passes, which take 0.2 to 0.6 s; the pass of 0.1 s is the warm-up.
    assert made[0].run.cost.prefill_s == pytest.approx(0.4)
    line = rows.table_view(made, rows.Asked())["rows"][0]
    least, most, passes = line["spread"]
    assert (round(most - least, 6), passes) == (0.4, 5)
    assert [name for name, _ in line["parts"]][1:] == ["encode", "compress", "prefill"]


def test_every_comparison_row_shows_the_fraction_of_relevance_kept(clip):
    engine = Engine(FakeBackend())
    last = compared(engine, clip, ["gleanvid"], more=["And now?"], measured=True)[-1]
    assert engine.backend.measured == 2  # one relevance measurement per question
    full, row = last.rows
    maps = [engine.runs.relevance(full.runs, text) for text in ("What moves?", "And now?")]
    expected = [one.kept(run.compression) for one, run in zip(maps, row.runs.values(), strict=True)]
    assert full.mattered == pytest.approx(1) and row.mattered == pytest.approx(sum(expected) / 2)
    assert rows.figures(row)["Mattered"] == pytest.approx(100 * row.mattered)
    found, held = rows.figures(row), diagnostics_of(row.run)
    assert found["Rank"] == pytest.approx(held.effective_rank / held.random_effective_rank)
    assert found["New"] == pytest.approx(100 * held.later_residual_energy)
    assert found["Gini"] == budget_gini(row.run.compression)
    assert rows.table([row])[0]["relevance_kept_percent"] == pytest.approx(100 * row.mattered)
    assert last.viewer["relevance"]["question"] == "What moves?"


def test_model_that_cannot_measure_relevance_still_gets_a_comparison_table(clip):
    engine = Engine(FakeBackend())
    engine.backend.refusal = "No gradient reaches the tokens."
    last = compared(engine, clip, ["gleanvid"], measured=True)[-1]
    assert "2 rows done. No gradient reaches the tokens." in last.notice["text"]
    assert [row.state for row in last.rows] == ["done", "done"]


def test_list_of_questions_about_two_clips_has_the_runs_of_both_clips(clip, tmp_path):
    """The viewer shows the page's clip; runs of the other clip are stored with that clip's path."""
    write_clip(tmp_path / "other.mp4")
    engine, other = Engine(FakeBackend()), str(tmp_path / "other.mp4")
    mine = Request(clip, 8, "builtin", sampling={"max_new_tokens": 64})
    both = [mine, replace(mine, path=other)]
    last = compared(engine, clip, ["uniform"], more=["Where to?"], measured=True, requests=both)[-1]
    for row in last.rows:
        assert [engine.runs.path(run_id) for run_id in row.runs] == [clip, other]
        names = [run.video.name for run in row.runs.values()]
        assert names == [Path(clip).name, "other.mp4"] and row.mattered > 0
    assert last.viewer["runs"] == [last.rows[1].run_id, last.rows[0].run_id]
    clips = [Path(clip).name, "other.mp4"]
    questions = [("What moves?", "x"), ("Where to?", last.rows[0].run.answer)]
    asked = rows.Asked("What moves?", "2 clips", questions=questions, clips=clips)
    line = rows.table_view(last.rows, asked, done=True)["rows"][0]
    assert [one["clip"] for one in line["each"]] == clips
    assert (line["quality"]["right"], line["quality"]["of"]) == (1, 2)


def test_list_of_questions_about_another_clip_leaves_the_viewer_unchanged(clip, tmp_path):
    write_clip(tmp_path / "other.mp4")
    engine, other = Engine(FakeBackend()), Request(str(tmp_path / "other.mp4"), 8, "builtin")
    last = compared(engine, clip, ["uniform"], requests=[other])[-1]
    assert last.done and last.viewer is None and last.runs is None
    assert [row.state for row in last.rows] == ["done", "done"]
