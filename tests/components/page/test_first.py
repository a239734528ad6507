from pathlib import Path

import numpy as np
import pytest
import torch

import gleanvid
from components.jobs.engine import Engine
from components.jobs.examples import FOLDER, Example, examples
from components.jobs.local import LocalBackend
from components.jobs.request import FIRST_RATIO
from components.jobs.saved_relevance import questions, saved
from components.page import first
from components.viewer.payload import pack
from gleanvid import api
from gleanvid.compressors import from_settings
from gleanvid.metrics import same_answer
from gleanvid.run import Run
from tests.components.viewer.test_viewer import run_of


def test_saved_result_of_the_opening_clip_is_restored(tmp_path):
    run = run_of()
    first.save([run], Example(tmp_path / "clip.mp4", "Clip", run.question), folder=tmp_path)
    loaded = first.load(tmp_path)
    packed = pack([run])
    assert {key: loaded.viewer[key] for key in packed.value} == packed.value
    assert Path(loaded.viewer["data"]["path"]).read_bytes() == packed.data
    assert (loaded.question, loaded.answers[0]["text"]) == (run.question, run.answer)


def test_saved_results_in_the_repository_are_complete_and_match_their_clips():
    loaded = first.load()
    grid, methods = loaded.viewer["grid"], loaded.viewer["methods"]
    assert [method["name"] for method in methods] == list(first.METHODS)
    assert (loaded.viewer["a"], loaded.viewer["b"]) == (1, 0) and loaded.viewer["truth"]
    for method in methods:
        assert method["stages"][0]["tokens"] == grid[0] * grid[1] * grid[2]
    assert all(Path(loaded.viewer[key]["path"]).is_file() for key in ("sheet", "data"))
    assert [item["run"] for item in loaded.answers] == loaded.runs == loaded.viewer["runs"]
    assert all(item["text"] and item["expected"] for item in loaded.answers)
    assert loaded.viewer["name"] == examples()[0].path.name


@pytest.fixture(scope="module")
def model():
    return gleanvid.load_model("builtin")


def test_live_run_gives_the_tokens_and_answer_of_the_saved_result(model):
    """If this fails, ``python -m components.page.first`` saves all results anew."""
    saved, example, engine = first.load(), examples()[0], Engine(LocalBackend({}))
    first.offer(engine, example, saved.runs)
    stored = engine.runs.get(saved.runs[0])
    before = torch.get_num_threads()
    try:
        torch.set_num_threads(2)  # the saved run must not depend on the number of threads
        compressor = from_settings(stored.compressor)
        run = api.ask(example.path, example.question, model, compressor)
    finally:
        torch.set_num_threads(before)
    place = saved.viewer["methods"][0]["stages"][0]["mask"]
    data = np.frombuffer(Path(saved.viewer["data"]["path"]).read_bytes(), np.uint8)
    mask = np.packbits(run.compression.mask.numpy())
    assert np.array_equal(data[place : place + len(mask)], mask)
    assert run.answer == saved.answers[0]["text"] == stored.answer
    assert torch.equal(run.compression.keep, stored.compression.keep)
    assert np.array_equal(run.video.frames, stored.video.frames)


@pytest.fixture(scope="module")
def answered(model):
    """(example, run with all tokens, run with GleanVID) of each suggested question."""
    found, methods = [], ("full", gleanvid.GleanVID(FIRST_RATIO))
    for example in (item for item in examples() if item.offered):
        video, asked = gleanvid.read_video(example.path), questions(example)
        runs = [gleanvid.ask_many(video, asked, model, method) for method in methods]
        found += [(example, *pair) for pair in zip(*runs, strict=True)]
    return found


def test_saved_relevance_is_that_of_the_model_s_current_answer(answered):
    """If this fails, ``python -m components.page.first`` saves all results anew."""
    for example, full, run in answered:
        kept = saved(example, f" {run.question}\n", run)
        assert kept.answer == full.answer
        assert " ".join(word for word, _ in kept.words).split() == kept.answer.split()


# each map takes seconds
@pytest.mark.parametrize("place", [0, *(pytest.param(n, marks=pytest.mark.slow) for n in (1, 2))])
def test_saved_relevance_equals_the_model_s_current_relevance(model, answered, place):
    pairs = [(example, run) for example, _, run in answered if run.question == example.question]
    example, run = pairs[place]
    kept = saved(example, run.question, run)
    found = api.relevance(run.video, run.question, model, kept.answer)
    assert kept.kept(run.compression) == pytest.approx(found.kept(run.compression), abs=0.01)
    assert (kept.tokens - found.tokens).abs().sum() < 0.02


def test_gleanvid_answers_every_suggested_question_rightly_but_that_of_the_second_clip(answered):
    lost = []
    for example, full, run in answered:
        truth = example.expected(run.question)
        assert same_answer(full.answer, truth), run.question
        lost += [] if same_answer(run.answer, truth) else [run.question]
    assert lost == [examples()[1].question]


def test_on_the_opening_clip_gleanvid_is_right_and_even_spacing_and_fewer_frames_are_wrong():
    verdicts = {}
    for run_id in first.load().runs:
        run = Run.load(first.FOLDER / "runs" / run_id)
        right = same_answer(run.answer, examples()[0].expected(run.question))
        verdicts[run.compressor["name"]] = right
    wanted = {"gleanvid": True, "full": True, "uniform": False, "frames": False}
    assert verdicts | wanted == verdicts


def test_every_example_clip_exists_and_is_listed_with_its_licence():
    notes = (FOLDER.parent / "ATTRIBUTION.md").read_text(encoding="utf-8")
    for example in examples():
        assert example.path.is_file() and example.title and example.question
        assert example.path.name in notes
