"""The other served families, with random weights, against transformers.

Needs an environment of its own: ``make test-vllm``.
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
def test_kept_tokens_positions_and_words_are_those_of_compressing(family, tmp_path):
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
        video_pruning_rate=0.9,  # by vLLM's default method, which leaves a unit of four
        additional_config={"gleanvid": "gleanvid"},
    )
    served = engine.Engine(llm)
    clip = engine.video("glimpse_1", 8)
    method = COMPRESSORS["gleanvid"](0.25)
    expected = engine.by_transformers(model, method, QUESTION, [clip])
    for chunk in (4096, 48):
        (answer,) = served.answers([served.prompt(model, QUESTION, [clip])], chunk)
        if dtype == "float32":
            assert answer.kept == expected.kept and answer.tokens == expected.tokens
        same = engine.FixedChoice(
            keep=tuple(answer.kept[0])
        )  # for tokens that rounding chose differently
        expected = engine.by_transformers(model, same, QUESTION, [clip])
        assert torch.equal(answer.positions, expected.positions)
        pairs = zip(answer.tokens, expected.tokens, answer.logprobs, expected.logprobs, strict=True)
        alike = list(itertools.takewhile(lambda pair: pair[0] == pair[1], pairs))
        largest = max((abs(one - other) for _, _, one, other in alike), default=0.0)
        print(f"\n{family}, {dtype}, chunks of {chunk}: {len(alike)} words alike, {largest:.1e}")
        assert largest < NOISE[dtype]
