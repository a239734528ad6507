"""vLLM's engine agrees with transformers and ``compressing()``, for the built-in model.

Needs the environment of ``make test-vllm``.
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
from tests.serving.vllm import engine
from tests.serving.vllm.engine import Engine, by_transformers

QUESTION = "What colour is the triangle?"
NOISE = 5e-5  # difference of log-probabilities between two float32 implementations


@pytest.fixture(scope="module")
def model():
    return load_model("builtin", device="cpu", dtype="float32")


@pytest.fixture(scope="module")
def served():
    from vllm import LLM

    llm = LLM(
        str(engine.MODEL),
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
    return Engine(llm)


@pytest.fixture
def method(served):
    """The compressor of the engine, which a test may replace; it is restored afterwards."""
    before = served.model.method
    yield before
    served.model.method = before


@pytest.fixture
def image_rate(served):
    """Set the engine's pruning rate for images to 0.5 during a test."""
    config = served.llm.llm_engine.model_config.hf_config
    config.gleanvid_image_rate = served.model.image_rate = 0.5
    yield
    config.gleanvid_image_rate = served.model.image_rate = 0.0


CASES = {
    "16 frames": [("glimpse_1", 16)],
    "another clip": [("city", 16)],
    "two videos": [("glimpse_1", 16), ("glimpse_2", 8)],
}


def difference(one, other):
    return max(abs(a - b) for a, b in zip(one.logprobs, other.logprobs, strict=True))


def assert_same(answer, expected, report=None):
    assert answer.kept == expected.kept
    assert torch.equal(answer.positions, expected.positions)
    assert answer.tokens == expected.tokens
    assert difference(answer, expected) < NOISE
    print(f"\n{report}: largest difference of log-probabilities {difference(answer, expected):.1e}")


@pytest.mark.parametrize("chunk", [4096, 128, 48])
@pytest.mark.parametrize("case", CASES)
def test_kept_tokens_positions_and_answer_of_vllm_equal_those_of_transformers(
    served, model, case, chunk
):
    videos = [engine.video(*clip) for clip in CASES[case]]
    expected = by_transformers(model, COMPRESSORS["gleanvid"](), QUESTION, videos)
    (answer,) = served.answers([served.prompt(model, QUESTION, videos)], chunk)
    assert_same(answer, expected, f"{case}, chunks of {chunk}")


@pytest.mark.parametrize("name", servable())
def test_every_served_method_keeps_the_tokens_that_transformers_keeps(served, model, method, name):
    """Kept tokens may differ only if scores are almost equal, so that rounding decides."""
    videos = [engine.video("glimpse_2", 8)]
    expected = by_transformers(model, COMPRESSORS[name](), QUESTION, videos)
    served.model.method = COMPRESSORS[name]()
    (answer,) = served.answers([served.prompt(model, QUESTION, videos)])
    same = len({*answer.kept[0]} & {*expected.kept[0]}) / len(expected.kept[0])
    print(f"\n{name}: {same:.1%} of the kept tokens are the same")
    assert same > 0.9 and len(answer.kept[0]) == len(expected.kept[0])


def image():
    return np.asarray(engine.video("bunny", 2).frames[0])


@pytest.mark.parametrize("chunk", [4096, 48])
@pytest.mark.parametrize("case", ["one image", "two images", "video and image"])
@pytest.mark.usefixtures("image_rate")
def test_pruned_images_have_the_tokens_positions_and_answer_of_the_library(
    served, model, case, chunk
):
    videos = [engine.video("glimpse_1", 8)] if case == "video and image" else []
    images = [image(), image()[:, ::-1].copy()][: 2 if case == "two images" else 1]
    kept = engine.kept_of_images(model, COMPRESSORS["gleanvid"](0.5), images)
    if videos:
        kept = by_transformers(model, COMPRESSORS["gleanvid"](), QUESTION, videos).kept + kept
    expected = engine.by_masking(model, kept, QUESTION, videos, images)
    (answer,) = served.answers([served.prompt(model, QUESTION, videos, images)], chunk)
    answer.kept.sort()  # vLLM encodes images before videos
    expected.kept.sort()
    assert_same(answer, expected, f"{case}, half of every image, chunks of {chunk}")


def test_batch_of_video_image_and_text_requests_is_answered_as_by_transformers(served, model):
    asked = [
        {"videos": [engine.video("glimpse_1", 16)]},
        {},
        {"images": [image()]},
        {"videos": [engine.video("city", 8), engine.video("glimpse_2", 8)]},
    ]
    expected = [by_transformers(model, COMPRESSORS["gleanvid"](), QUESTION, **one) for one in asked]
    for chunk in (4096, 100):
        answer = served.answers([served.prompt(model, QUESTION, **one) for one in asked], chunk)
        for one, other in zip(answer, expected, strict=True):
            assert one.tokens == other.tokens and difference(one, other) < NOISE


def test_video_in_vllm_s_prefix_cache_is_not_encoded_again(served, model):
    """For the second question only text tokens are computed, and their positions are right."""
    videos = [engine.video("glimpse_1", 16)]
    for question in (QUESTION, "What moves?"):
        expected = by_transformers(model, COMPRESSORS["gleanvid"](), question, videos)
        (answer,) = served.answers([served.prompt(model, question, videos, uuid="clip")])
        assert answer.tokens == expected.tokens and difference(answer, expected) < NOISE
        assert torch.equal(answer.positions, expected.positions[:, answer.cached :])
    assert answer.cached > 250 and answer.kept == []


def test_vllm_cache_keys_differ_by_method_settings_and_pruning_rate(served, model):
    """The cache keys of a video and of an image are compared between different server options."""
    config = served.llm.llm_engine.model_config
    pruning, hf_config = config.get_multimodal_config(), config.hf_config
    before = hf_config.gleanvid, pruning.video_pruning_rate, hf_config.gleanvid_image_rate
    starts = [("gleanvid", {}, 0.75), ("gleanvid", {"tau": 2.0}, 0.75), ("vcast", {}, 0.75)]
    videos, images, whole_images = set(), set(), set()
    try:
        for name, settings, rate in [*starts, ("gleanvid", {}, 0.5)]:
            hf_config.gleanvid = COMPRESSORS[name](**settings).settings()
            pruning.video_pruning_rate = rate
            videos.add(cache_key(served, model, "video"))
            whole_images.add(cache_key(served, model, "image"))
            hf_config.gleanvid_image_rate = rate
            images.add(cache_key(served, model, "image"))
            hf_config.gleanvid_image_rate = 0.0
    finally:
        hf_config.gleanvid, pruning.video_pruning_rate, hf_config.gleanvid_image_rate = before
    assert len(videos) == 4 and cache_key(served, model, "video") in videos
    assert len(images) == 4 and whole_images == {cache_key(served, model, "image")}
    assert not images & whole_images


def cache_key(served, model, kind):
    media = {"videos": [engine.video("glimpse_2", 8)], "images": [image()]}[kind + "s"]
    asked = served.prompt(model, QUESTION, **{kind + "s": media}, uuid="named")
    return served.llm.renderer.render_cmpl([asked])[0]["mm_hashes"][kind][0]


def test_number_of_kept_tokens_equals_vllm_s_own_computation():
    from vllm.multimodal.video_prune import evs, vidcom2

    for units in (1, 2, 3, 8, 31):
        for side in (1, 3, 10):
            for rate in np.linspace(0.01, 0.99, 99).tolist():
                size, grid = side * side, (units, side, side)
                mine = kept_count(grid, rate, whole_unit=False)
                assert mine == vidcom2.compute_retained_tokens_count(size, units, rate)
                mine = kept_count(grid, rate, whole_unit=True)
                assert mine == evs.compute_retained_tokens_count(size, units, rate)
