"""The other model families served by vLLM agree with transformers, with random weights.

Needs the environment of ``make test-vllm``.
"""

import itertools
import os

import pytest
import torch

from tests.serving.vllm import running

pytest.importorskip("vllm", reason="vLLM is not installed here: make test-vllm")

os.environ |= running.HERE

from gleanvid.compressors import COMPRESSORS
from gleanvid.models import load_model
from tests.serving.vllm import engine
from tests.serving.vllm.families import FAMILIES, as_published

QUESTION = "What moves?"
# Tolerance of log-probabilities. On a CPU, vLLM's linear attention supports bfloat16 only.
NOISE = {"float32": 5e-5, "bfloat16": 0.2}
DTYPES = {"qwen3_5": "bfloat16"}


@pytest.mark.parametrize("family", FAMILIES)
def test_kept_tokens_positions_and_answer_of_every_served_family_equal_those_of_transformers(
    family, tmp_path
):
    from vllm import LLM

    FAMILIES[family](tmp_path)
    dtype = DTYPES.get(family, "float32")
    model = load_model(tmp_path, device="cpu", dtype=dtype)
    as_published(tmp_path)
    llm = LLM(
        str(tmp_path),
        dtype=dtype,
        enforce_eager=True,
        max_model_len=4096,
        max_num_batched_tokens=4096,
        video_pruning_rate=0.9,  # 25 % are kept: the minimum is 1 of 4 temporal units
        additional_config={"gleanvid": "gleanvid", "gleanvid_image_pruning_rate": 0.5},
    )
    served = engine.Engine(llm)
    clip = engine.video("glimpse_1", 8)
    method = COMPRESSORS["gleanvid"](0.25)
    expected = engine.by_transformers(model, method, QUESTION, [clip])
    for chunk in (4096, 48):
        (answer,) = served.answers([served.prompt(model, QUESTION, [clip])], chunk)
        if dtype == "float32":
            assert answer.kept == expected.kept and answer.tokens == expected.tokens
        # From here on, transformers keeps the tokens that vLLM kept: rounding may change a few.
        same = engine.FixedChoice(keep=tuple(answer.kept[0]))
        expected = engine.by_transformers(model, same, QUESTION, [clip])
        assert torch.equal(answer.positions, expected.positions)
        pairs = zip(answer.tokens, expected.tokens, answer.logprobs, expected.logprobs, strict=True)
        alike = list(itertools.takewhile(lambda pair: pair[0] == pair[1], pairs))
        largest = max((abs(one - other) for _, _, one, other in alike), default=0.0)
        print(f"\n{family}, {dtype}, chunks of {chunk}: {len(alike)} words alike, {largest:.1e}")
        assert largest < NOISE[dtype]
    images = [clip.frames[0]]
    (answer,) = served.answers([served.prompt(model, QUESTION, images=images)], 48)
    expected = engine.by_masking(model, answer.kept, QUESTION, images=images)
    assert torch.equal(answer.positions, expected.positions)
    # The bfloat16 model has linear attention, which ignores masks: its reference is wrong.
    if dtype == "float32":
        assert answer.kept == engine.kept_of_images(model, COMPRESSORS["gleanvid"](0.5), images)
        assert answer.tokens == expected.tokens
        pairs = zip(answer.logprobs, expected.logprobs, strict=True)
        assert max(abs(one - other) for one, other in pairs) < NOISE[dtype]
