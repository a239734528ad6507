"""vLLM's engine beside transformers with ``compressing()``, on the built-in weights in float32.

Needs an environment of its own: ``make test-vllm``.
"""

import os

import numpy as np
import pytest
import torch

from tests.serving.vllm import running

pytest.importorskip("vllm", reason="vLLM is not installed here: make test-vllm")

os.environ |= running.HERE

from gleanvid.compressors import COMPRESSORS
from gleanvid.models import load_model
from gleanvid.serving.vllm.methods import kept_count, servable
from tests.serving.vllm import beside
from tests.serving.vllm.beside import Served, by_transformers

QUESTION = "What colour is the triangle?"
NOISE = 5e-5  # of log-probabilities, two implementations in float32


@pytest.fixture(scope="module")
def model():
    return load_model("builtin", device="cpu", dtype="float32")


@pytest.fixture(scope="module")
def served():
    from vllm import LLM

    llm = LLM(
        str(beside.MODEL),
        dtype="float32",
        enforce_eager=True,
        max_model_len=4096,
        max_num_batched_tokens=4096,
        enable_prefix_caching=True,
        block_size=32,
        video_pruning_rate=0.75,
        video_pruning_method="vidcom2",
        additional_config={"gleanvid": "gleanvid"},
    )
    return Served(llm)


@pytest.fixture
def method(served):
    """The method of the engine, put back after a test that changed it."""
    before = served.model.method
    yield before
    served.model.method = before


CASES = {
    "16 frames": [("glimpse_1", 16)],
    "another clip": [("city", 16)],
    "two videos": [("glimpse_1", 16), ("glimpse_2", 8)],
}


def difference(one, other):
    return max(abs(a - b) for a, b in zip(one.logprobs, other.logprobs, strict=True))


def assert_same(told, expected, report=None):
    assert told.kept == expected.kept
    assert torch.equal(told.positions, expected.positions)
    assert told.tokens == expected.tokens
    assert difference(told, expected) < NOISE
    print(f"\n{report}: largest difference of log-probabilities {difference(told, expected):.1e}")


@pytest.mark.parametrize("chunk", [4096, 128, 48])
@pytest.mark.parametrize("case", CASES)
def test_kept_tokens_positions_and_words_are_those_of_compressing(served, model, case, chunk):
    videos = [beside.video(*clip) for clip in CASES[case]]
    expected = by_transformers(model, COMPRESSORS["gleanvid"](), QUESTION, videos)
    (told,) = served.answers([served.asked(model, QUESTION, videos)], chunk)
    assert_same(told, expected, f"{case}, chunks of {chunk}")


@pytest.mark.parametrize("name", servable())
def test_every_method_that_is_served(served, model, method, name):
    """By the choice of transformers where noise of features may decide between near-ties."""
    videos = [beside.video("glimpse_2", 8)]
    expected = by_transformers(model, COMPRESSORS[name](), QUESTION, videos)
    served.model.method = COMPRESSORS[name]()
    (told,) = served.answers([served.asked(model, QUESTION, videos)])
    same = len({*told.kept[0]} & {*expected.kept[0]}) / len(expected.kept[0])
    print(f"\n{name}: {same:.1%} of the kept tokens are the same")
    assert same > 0.9 and len(told.kept[0]) == len(expected.kept[0])


def test_with_the_same_choice_32_frames_are_answered_the_same(served, model, method):
    videos = [beside.video("glimpse_1", 32)]
    with_noise = by_transformers(model, COMPRESSORS["gleanvid"](), QUESTION, videos)
    (told,) = served.answers([served.asked(model, QUESTION, videos)])
    same = len({*told.kept[0]} & {*with_noise.kept[0]})
    print(f"\n32 frames: {same} of {len(told.kept[0])} kept tokens are the same")
    forced = beside.Given(keep=tuple(told.kept[0]))
    expected = by_transformers(model, forced, QUESTION, videos)
    served.model.method = forced
    (told,) = served.answers([served.asked(model, QUESTION, videos)])
    assert_same(told, expected, "32 frames, the same choice")


def image():
    return np.asarray(beside.video("bunny", 2).frames[0])


def test_a_video_beside_an_image(served, model):
    videos, images = [beside.video("glimpse_1", 8)], [image()]
    expected = by_transformers(model, COMPRESSORS["gleanvid"](), QUESTION, videos, images)
    for chunk in (4096, 48):
        (told,) = served.answers([served.asked(model, QUESTION, videos, images)], chunk)
        assert_same(told, expected, f"video and image, chunks of {chunk}")


def test_mixed_requests_in_one_batch(served, model):
    asked = [
        {"videos": [beside.video("glimpse_1", 16)]},
        {},
        {"images": [image()]},
        {"videos": [beside.video("city", 8), beside.video("glimpse_2", 8)]},
    ]
    expected = [by_transformers(model, COMPRESSORS["gleanvid"](), QUESTION, **one) for one in asked]
    for chunk in (4096, 100):
        told = served.answers([served.asked(model, QUESTION, **one) for one in asked], chunk)
        for one, other in zip(told, expected, strict=True):
            assert one.tokens == other.tokens and difference(one, other) < NOISE


def test_a_video_in_the_prefix_cache_is_not_read_again(served, model):
    """Its rows are not there a second time, and the text behind them stands right all the same."""
    videos = [beside.video("glimpse_1", 16)]
    for question in (QUESTION, "What moves?"):
        expected = by_transformers(model, COMPRESSORS["gleanvid"](), question, videos)
        (told,) = served.answers([served.asked(model, question, videos, uuid="clip")])
        assert told.tokens == expected.tokens and difference(told, expected) < NOISE
        assert torch.equal(told.positions, expected.positions[:, told.cached :])
    assert told.cached > 250 and told.kept == []


def test_caches_tell_methods_settings_and_rates_apart(served, model):
    """The name of a video in vLLM's caches, under each of several starts."""
    config = served.llm.llm_engine.model_config
    pruning, names = config.get_multimodal_config(), set()
    before = config.hf_config.gleanvid, pruning.video_pruning_rate
    starts = [("gleanvid", {}, 0.75), ("gleanvid", {"tau": 2.0}, 0.75), ("vcast", {}, 0.75)]
    try:
        for name, settings, rate in [*starts, ("gleanvid", {}, 0.5)]:
            config.hf_config.gleanvid = COMPRESSORS[name](**settings).settings()
            pruning.video_pruning_rate = rate
            names.add(video_name(served, model))
    finally:
        config.hf_config.gleanvid, pruning.video_pruning_rate = before
    again = video_name(served, model)
    assert len(names) == 4 and again in names


def video_name(served, model):
    asked = served.asked(model, QUESTION, [beside.video("glimpse_2", 8)], uuid="named")
    made = served.llm.renderer.render_cmpl([asked])
    return made[0]["mm_hashes"]["video"][0]


def test_the_count_is_vllm_s_own():
    from vllm.multimodal.video_prune import evs, vidcom2

    for units in (1, 2, 3, 8, 31):
        for side in (1, 3, 10):
            for rate in np.linspace(0.01, 0.99, 99).tolist():
                size, grid = side * side, (units, side, side)
                mine = kept_count(grid, rate, whole_unit=False)
                assert mine == vidcom2.compute_retained_tokens_count(size, units, rate)
                mine = kept_count(grid, rate, whole_unit=True)
                assert mine == evs.compute_retained_tokens_count(size, units, rate)
