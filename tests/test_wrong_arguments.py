"""Wrong arguments are refused with a sentence; compressors may be given by name."""

from __future__ import annotations

import numpy as np
import pytest
import torch

import gleanvid
from gleanvid.compressors import COMPRESSORS, as_compressor, from_settings, key_of, method_from
from tests.models import tiny


@pytest.mark.parametrize("features", [np.zeros((8, 4), np.float32), [[0.0] * 4] * 8, None])
def test_features_are_a_tensor(features):
    with pytest.raises(TypeError, match=r"torch\.Tensor"):
        gleanvid.VideoTokens(features, grid=(2, 2, 2))


def test_features_on_meta_or_in_float8_are_refused():
    with pytest.raises(ValueError, match="meta"):
        gleanvid.VideoTokens(torch.zeros(8, 4, device="meta"), grid=(2, 2, 2))
    with pytest.raises(ValueError, match="float8"):
        gleanvid.VideoTokens(torch.zeros(8, 4).to(torch.float8_e4m3fn), grid=(2, 2, 2))


@pytest.mark.parametrize("method", COMPRESSORS.values(), ids=str)
def test_other_objects_than_video_tokens_are_refused_with_advice(method):
    with pytest.raises(TypeError, match=r"not Tensor \[2, 4, 4, 8\]: .*VideoTokens\.from_grid"):
        method().compress(torch.rand(2, 4, 4, 8))
    with pytest.raises(TypeError, match=r"not NoneType: VideoTokens\(features, grid="):
        method().compress(None)


def test_from_grid_is_equivalent_to_flat_features_with_a_grid():
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
def test_history_is_pairs_of_text(history):
    with pytest.raises(TypeError, match=r"\(question, answer\) pairs of text"):
        gleanvid.ask("nowhere.mp4", "What?", history=history)


@pytest.mark.parametrize("question", [None, 3, b"what?"])
def test_a_question_is_text(question):
    with pytest.raises(TypeError, match="must be text"):
        gleanvid.ask("nowhere.mp4", question)


@pytest.mark.parametrize("answer", ["", " ", 3])
def test_an_answer_whose_relevance_is_measured_is_text(answer):
    with pytest.raises(ValueError, match="None takes the model's own"):
        gleanvid.relevance("nowhere.mp4", "What?", answer=answer)


def test_the_address_of_a_server_is_no_model():
    with pytest.raises(gleanvid.ModelError, match="is the address of a server"):
        gleanvid.relevance("nowhere.mp4", "What?", "vllm:http://127.0.0.1:8000")


@pytest.mark.parametrize("records", [[], ["gleanvid"], None])
def test_relevance_is_kept_by_one_record(records):
    found = gleanvid.Relevance(torch.ones(4) / 4, (1, 2, 2), "", "", 0.0, "gradient", 0.0)
    with pytest.raises(TypeError, match="must be one record"):
        found.kept(records)


@pytest.mark.parametrize(("video", "question"), [("a.mp4", ["what?"]), (["a.mp4"], "what?")])
def test_lists_go_to_ask_many(video, question):
    with pytest.raises(TypeError, match="for lists use ask_many"):
        gleanvid.ask(video, question)


@pytest.mark.parametrize(("given", "kind"), [("gzip", ValueError), (0.25, TypeError)])
def test_invalid_compressor_is_refused_before_loading(given, kind):
    with pytest.raises(kind, match="vidcom2"):
        gleanvid.ask("nowhere.mp4", "What?", compressor=given)


def test_a_compressor_may_be_named(model):
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
def test_a_compressor_is_named_as_people_write_it(written, settings):
    assert as_compressor(written) == method_from(written) == from_settings(settings)


@pytest.mark.parametrize(
    ("written", "meant"),
    [("gleanvd", "gleanvid"), ("v-cats", "vcast"), ("DivPrun(0.1)", "divprune")],
)
def test_unknown_name_suggests_the_closest(written, meant):
    with pytest.raises(ValueError, match=f"did you mean '{meant}'"):
        as_compressor(written)


def test_a_name_far_from_all_is_not_guessed():
    with pytest.raises(ValueError, match=r"must be one of full.* random, by_hand$"):
        as_compressor("h264")


@pytest.mark.parametrize("method", COMPRESSORS.values(), ids=str)
def test_every_key_and_title_names_its_method(method):
    assert key_of(method.name) == key_of(method.title) == method.name


@pytest.mark.parametrize("given", [None, torch.nn.Linear(1, 1)])
def test_invalid_model_is_refused(given):
    video = tiny.noise_video()
    with pytest.raises(TypeError, match="load_model"):
        gleanvid.ask(video, "what?", given)
    with pytest.raises(TypeError, match="load_model"):
        gleanvid.compare(video, "what?", given, ["uniform"])


def test_frames_without_colours_are_named(model):
    with pytest.raises(ValueError, match=r"uint8 \[T, H, W, 3\], got \[8, 8\]"):
        gleanvid.ask(np.zeros((8, 8), np.uint8), "what?", model)


def test_empty_list_of_videos_is_refused(model):
    with pytest.raises(ValueError, match="must not be empty"):
        gleanvid.ask_many([], "what?", model)


def test_one_model_is_compressed_once_at_a_time(model):
    with gleanvid.compressing(model.hf_model, gleanvid.Uniform()):
        inner = gleanvid.compressing(model.hf_model, gleanvid.Random())
        with pytest.raises(gleanvid.ModelError, match="compressed already"), inner:
            pass
    with gleanvid.compressing(model.hf_model, gleanvid.Random()):
        pass
