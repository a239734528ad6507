import threading
from importlib.metadata import version
from itertools import pairwise

import pytest
import torch

import gleanvid
from gleanvid.api import Failure, compare
from gleanvid.api.pipeline import encode, remembered
from gleanvid.cost import prefill_flops, visual_tokens_by_layer
from gleanvid.models.encoded import ClipKey
from gleanvid.types import Compression, StoppedError
from tests.models import tiny


@pytest.fixture(scope="module")
def video():
    return tiny.noise_video(frames=6)


def key(video, model, max_pixels=None):
    return ClipKey(video, model.name, max_pixels)


def test_token_counts_and_flops_of_a_run_are_consistent(model, video):
    run = gleanvid.ask(video, "What moves?", model, gleanvid.GleanVID(0.25), 6)
    cost, record = run.cost, run.compression
    assert record.num_kept == cost.visual_tokens_kept == cost.visual_tokens // 4
    assert cost.prompt_tokens - cost.prompt_tokens_kept == cost.visual_tokens - record.num_kept
    assert cost.prefill_flops == prefill_flops(model.text_config, cost.prompt_tokens_kept)
    assert cost.prefill_flops_full == prefill_flops(model.text_config, cost.prompt_tokens)
    assert 1 <= cost.new_tokens <= 6
    assert len(run.seconds) == record.grid[0]
    assert len(run.rectangles) == record.grid[1] * record.grid[2]


def test_run_stores_everything_needed_to_repeat_it(model, video):
    sampling = gleanvid.Sampling(6, temperature=1.5, top_p=0.9, seed=5)
    run = gleanvid.ask(video, "What?", model, gleanvid.Uniform(0.5), sampling=sampling)
    made = run.made_with
    assert made["versions"]["torch"] == version("torch") and made["device"] == "cpu"
    settings = {name: made[name] for name in ("max_new_tokens", "temperature", "top_p", "seed")}
    assert gleanvid.Sampling(**settings) == sampling
    again = gleanvid.ask(video, "What?", model, gleanvid.Uniform(0.5), sampling=sampling)
    assert again.answer == run.answer and again.made_with == made
    plain = gleanvid.ask(video, "What?", model, gleanvid.Uniform(0.5), 2, history=[("a", "b")])
    assert (plain.made_with["seed"], plain.made_with["earlier_turns"]) == (None, 1)


def test_tokens_by_layer_change_at_each_stage_s_layer():
    first = Compression.pruned(torch.arange(6), (2, 2, 2))
    second = Compression.pruned(torch.arange(3), (2, 2, 2), num_tokens=6)
    assert visual_tokens_by_layer({0: first, 2: second}, 8, 4) == (6, 6, 3, 3)
    assert visual_tokens_by_layer({2: second}, 8, 4) == (8, 8, 3, 3)


def test_a_clip_is_encoded_once_for_all_questions_and_methods(model, video):
    fresh = tiny.noise_video(frames=6)
    encoded, cached = encode(key(fresh, model), model)
    cost = gleanvid.ask(fresh, "How many?", model, gleanvid.Uniform(0.5), 2).cost
    assert not cached and cost.encode_s == encoded.encode_s
    # a cached clip still counts its encoding time in the TTFT
    assert cost.ttft_s == cost.encode_s + cost.compress_s + cost.prefill_s
    assert encode(key(fresh, model), model)[1] is True


def test_stream_ends_with_the_run_that_ask_returns(model, video):
    asked = gleanvid.ask(video, "What moves?", model, gleanvid.GleanVID(0.5), 8)
    stop = threading.Event()
    method = gleanvid.GleanVID(0.5)
    *texts, run = gleanvid.stream(video, "What moves?", model, method, 8, stop=stop)
    assert not stop.is_set()
    assert run.answer == asked.answer
    assert torch.equal(run.compression.keep, asked.compression.keep)
    assert all(later.startswith(earlier) for earlier, later in pairwise(texts))
    if texts:
        assert texts[-1].strip() == run.answer


def test_closing_a_stream_frees_the_model(model, video):
    pieces = gleanvid.stream(video, "Tell all", model, gleanvid.GleanVID(0.5), 4000)
    next(pieces)
    pieces.close()
    assert model.lock.acquire(timeout=1)
    model.lock.release()


def test_ask_and_compare_raise_stopped_error_if_stop_is_set_before_the_call(model, video):
    stop = threading.Event()
    stop.set()
    with pytest.raises(StoppedError):
        gleanvid.ask(video, "Tell all", model, gleanvid.GleanVID(), 500, stop=stop)
    with pytest.raises(StoppedError):
        list(compare(video, "Tell all", model, [gleanvid.GleanVID()], 500, stop=stop))


def test_encoding_cache_distinguishes_max_pixels(model):
    clip = tiny.noise_video(4, 240, 320)
    wide = encode(key(clip, model), model)[0]
    narrow = encode(key(clip, model, 4 * 64 * 64), model)[0]
    assert len(narrow.tokens) < len(wide.tokens)
    assert remembered(key(clip, model), model) is wide
    assert remembered(key(clip, model, 4 * 64 * 64), model) is narrow
    assert remembered(key(clip, model, 4 * 96 * 96), model) is None


@pytest.mark.parametrize("wanted", [set(), {"saliency"}, {"saliency", "keys"}], ids=len)
def test_cached_encoding_is_reused_for_a_subset_of_its_signals(video, wanted):
    known = ClipKey(video, "a", 9, frozenset({"saliency"}))
    same = ClipKey(video, "a", 9, frozenset(wanted))
    assert known.serves(same) is (len(wanted) < 2)
    others = (ClipKey(tiny.noise_video(frames=6), "a", 9), ClipKey(video, "b", 9))
    assert not any(known.serves(other) for other in (*others, ClipKey(video, "a")))


@pytest.mark.parametrize(
    ("setting", "error"),
    [({"temprature": 1.0}, "temprature"), ({"max_new_tokens": 0}, "max_new_tokens=0 must be")],
    ids=str,
)
@pytest.mark.parametrize("door", ["ask", "ask_many", "stream", "compare"])
def test_invalid_setting_is_refused_before_a_file_is_opened(monkeypatch, door, setting, error):
    monkeypatch.setattr("gleanvid.api.arguments.read_video", lambda *_, **__: 1 / 0)
    monkeypatch.setattr("gleanvid.api.arguments.load_model", lambda *_: 1 / 0)
    method = [gleanvid.Uniform()] if door == "compare" else gleanvid.Uniform()
    with pytest.raises((TypeError, ValueError), match=error):
        list(getattr(gleanvid, door)("clip.mp4", "What?", "builtin", method, **setting))


def test_answer_length_limit_of_a_checkpoint_is_respected(model, video):
    stated = model.hf_model.generation_config
    stated.max_new_tokens = 3
    try:
        run = gleanvid.ask(video, "Tell all", model, gleanvid.GleanVID(), 40)
    finally:
        stated.max_new_tokens = None
    assert run.cost.new_tokens <= 3
    assert gleanvid.ask(video, "Tell all", model, gleanvid.GleanVID(), 40).cost.new_tokens > 3


class Broken(gleanvid.Uniform):
    name = "broken"

    def _compress(self, tokens):
        raise ValueError("this method cannot do that")


def test_failing_compressor_does_not_end_a_comparison(model, video):
    methods = [gleanvid.FullTokens(), Broken(), gleanvid.Random()]
    results = list(compare(video, "What?", model, methods, 2))
    assert [isinstance(result, Failure) for result in results] == [False, True, False]
    assert "cannot do that" in str(results[1].error)
