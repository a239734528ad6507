import re
import warnings
from pathlib import Path

import numpy as np
import pytest
import torch

import gleanvid
from gleanvid.compressors import COMPRESSORS, as_compressor, from_settings, method_from
from tests.models import tiny

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("features", [np.zeros((8, 4), np.float32), [[0.0] * 4] * 8, None])
def test_features_other_than_a_tensor_are_refused(features):
    with pytest.raises(TypeError, match=r"torch\.Tensor"):
        gleanvid.VideoTokens(features, grid=(2, 2, 2))


@pytest.mark.parametrize("method", COMPRESSORS.values(), ids=str)
def test_compressing_anything_but_video_tokens_is_refused_with_advice(method):
    with pytest.raises(TypeError, match=r"not Tensor \[2, 4, 4, 8\]: .*VideoTokens\.from_grid"):
        method().compress(torch.rand(2, 4, 4, 8))
    with pytest.raises(TypeError, match=r"not NoneType: VideoTokens\(features, grid="):
        method().compress(None)


def test_features_with_grid_axes_and_flat_features_give_the_same_selection():
    features = torch.rand(4, 3, 5, 8)
    flat = gleanvid.VideoTokens(features.reshape(60, 8), (4, 3, 5))
    kept = [
        gleanvid.GleanVID().compress(t).keep
        for t in (gleanvid.VideoTokens.from_grid(features), flat)
    ]
    assert torch.equal(*kept)
    with pytest.raises(ValueError, match=r"\[T, rows, columns, D\], got \[60, 8\]"):
        gleanvid.VideoTokens.from_grid(flat.features)


@pytest.mark.parametrize("history", [["a"], ["ab"], [("a", 3)], "ab", [("a", "b", "c")], 3])
def test_history_other_than_pairs_of_text_is_refused(history):
    with pytest.raises(TypeError, match=r"\(question, answer\) pairs of text"):
        gleanvid.ask("nowhere.mp4", "What?", history=history)


@pytest.mark.parametrize(
    ("call", "others"),
    [
        (gleanvid.ask, ()),
        (gleanvid.ask_many, ()),
        (gleanvid.compare, ("builtin", "uniform")),
        (gleanvid.least, ()),
        (gleanvid.relevance, ()),
    ],
    ids=["ask", "ask_many", "compare", "least", "relevance"],
)
def test_missing_video_is_refused_before_the_model_is_loaded(call, others, monkeypatch):
    monkeypatch.setattr(
        "gleanvid.api.arguments.load_model", lambda name: pytest.fail("it was loaded")
    )
    with pytest.raises(gleanvid.VideoError, match=r"There is no file called nowhere\.mp4"):
        call("nowhere.mp4", "What?", *others)


@pytest.mark.parametrize(("given", "kind"), [("gzip", ValueError), (0.25, TypeError)])
def test_invalid_compressor_is_refused_before_loading(given, kind):
    with pytest.raises(kind, match="vidcom2"):
        gleanvid.ask("nowhere.mp4", "What?", compressor=given)


def test_compressor_may_be_given_by_name(model):
    video = tiny.noise_video()
    named = gleanvid.ask(video, "what?", model, "uniform", 2)
    assert named.compressor == gleanvid.Uniform().settings()
    runs = list(gleanvid.compare(video, "what?", model, ["uniform", gleanvid.Uniform()], 2))
    assert runs[0].compressor == runs[1].compressor
    assert as_compressor(None) is None
    with gleanvid.compressing(model.hf_model, "uniform") as record:
        assert record is not None


@pytest.mark.parametrize(
    ("written", "settings"),
    [
        ("GleanVID", {"name": "gleanvid"}),
        ("V-CAST(temperature=2)", {"name": "vcast", "temperature": 2}),
        (" gleanvid( 0.1, tau = 2 ) ", {"name": "gleanvid", "retention_ratio": 0.1, "tau": 2}),
        ("Pairwise_Gain", {"name": "pairwise_gain"}),
        ("fastvid(variant=llava_video)", {"name": "fastvid", "variant": "llava_video"}),
    ],
)
def test_compressor_name_is_accepted_in_any_usual_spelling(written, settings):
    assert as_compressor(written) == method_from(written) == from_settings(settings)


@pytest.mark.parametrize(
    ("written", "meant"),
    [("gleanvd", "gleanvid"), ("v-cats", "vcast"), ("DivPrun(0.1)", "divprune")],
)
def test_unknown_compressor_name_suggests_the_closest_name(written, meant):
    with pytest.raises(ValueError, match=f"did you mean '{meant}'"):
        as_compressor(written)


@pytest.mark.parametrize("given", [None, torch.nn.Linear(1, 1)])
def test_argument_that_is_no_model_is_refused(given):
    video = tiny.noise_video()
    with pytest.raises(TypeError, match="load_model"):
        gleanvid.ask(video, "what?", given)
    with pytest.raises(TypeError, match="load_model"):
        gleanvid.compare(video, "what?", given, ["uniform"])


def test_nested_compressing_blocks_on_one_model_are_refused(model):
    with gleanvid.compressing(model.hf_model, gleanvid.Uniform()):
        inner = gleanvid.compressing(model.hf_model, gleanvid.Random())
        with pytest.raises(gleanvid.ModelError, match="already inside"), inner:
            pass
    with gleanvid.compressing(model.hf_model, gleanvid.Random()):
        pass


@pytest.mark.parametrize(
    ("clip", "question", "problem"),
    [
        ("glimpse_1", "Which colour is it?", "questions of Glimpse.*'Which colour is it"),
        ("driveway", "What is there?", "drawn clips of Glimpse.*driveway.mp4"),
        ("glimpse_1", "What is there", ""),
    ],
)
def test_built_in_model_warns_of_answers_that_mean_nothing(clip, question, problem):
    clip = ROOT / "assets/clips" / f"{clip}.mp4"
    calls = (
        lambda: gleanvid.ask(clip, question, max_new_tokens=1, num_frames=2),
        lambda: gleanvid.ask_many(clip, ["What is there?", question], num_frames=2),
        lambda: gleanvid.compare(clip, question, "builtin", ["uniform"], num_frames=2),
    )
    for call in calls:
        with warnings.catch_warnings(record=True) as seen:
            call()
        said = [str(one.message) for one in seen if "built-in" in str(one.message)]
        assert len(said) == bool(problem) and all(re.search(problem, text) for text in said)
