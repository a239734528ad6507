from __future__ import annotations

from pathlib import Path

import numpy as np
import plotly.graph_objects as go
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
from tests.components.viewer.test_viewer import run_of


def test_saved_result_of_the_opening_clip_is_restored(tmp_path):
    run = run_of()
    first.save([run], Example(tmp_path / "clip.mp4", "Clip", run.question), folder=tmp_path)
    loaded = first.load(tmp_path)
    packed = pack([run])
    assert {key: loaded.viewer[key] for key in packed.value} == packed.value
    assert Path(loaded.viewer["data"]["path"]).read_bytes() == packed.data
    assert (loaded.question, loaded.answers[0]["text"]) == (run.question, run.answer)
    budgets, novelty = (go.Figure(loaded.figures[name]) for name in ("budget", "novelty"))
    assert list(budgets.data[0].y) == run.compression.budgets.tolist()
    assert list(novelty.data[0].y) == pytest.approx(run.compression.trace["novelty"].tolist())


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


def test_live_run_gives_the_tokens_and_answer_of_the_saved_result():
    """If this fails, ``python -m components.page.first`` saves all results anew."""
    saved, example, engine = first.load(), examples()[0], Engine(LocalBackend({}))
    first.offer(engine, example, saved.runs)
    stored = engine.runs.get(saved.runs[0])
    before = torch.get_num_threads()
    try:
        torch.set_num_threads(2)  # the saved run must not depend on the number of threads
        compressor = from_settings(stored.compressor)
        model = gleanvid.load_model("builtin")
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


def test_saved_relevance_equals_the_model_s_current_relevance():
    """If this fails, ``python -m components.page.first`` saves all results anew."""
    model = gleanvid.load_model("builtin")
    for place, example in enumerate(item for item in examples() if item.questions):
        video = gleanvid.read_video(example.path)
        for number, question in enumerate(questions(example)):
            run = api.ask(video, question, model, "gleanvid")
            kept = saved(example, f" {question}\n", run)
            assert kept is not None, question
            if number:
                continue  # one relevance map per clip is enough, as each takes seconds
            words = place == 0  # a map of every word takes longer
            found = api.relevance(video, question, model, kept.answer, words=words)
            assert kept.kept(run.compression) == pytest.approx(
                found.kept(run.compression), abs=0.01
            )
            if words:
                assert [word for word, _ in kept.words] == [word for word, _ in found.words]
            assert (kept.tokens - found.tokens).abs().sum() < 0.02


def test_gleanvid_answers_every_suggested_question_rightly_except_the_listed_failure():
    model = gleanvid.load_model("builtin")
    for example in (item for item in examples() if item.offered):
        video = gleanvid.read_video(example.path)
        asked = (example.question, *example.offered)
        questions = [question for question in asked if question]
        methods = ("full", gleanvid.GleanVID(FIRST_RATIO))
        runs = [gleanvid.ask_many(video, questions, model, method) for method in methods]
        for question, *pair in zip(questions, *runs, strict=True):
            truth = example.expected(question)
            right = [same_answer(run.answer, truth) for run in pair]
            assert right == [True, True], question


def test_every_example_clip_exists_and_is_listed_with_its_licence():
    notes = (FOLDER.parent / "ATTRIBUTION.md").read_text(encoding="utf-8")
    for example in examples():
        assert example.path.is_file() and example.title and example.question
        assert example.path.name in notes
