"""Compressed Qwen3.5 and MiniCPM-V give the logits of a prompt without the dropped tokens.

Other families are compared with a prompt whose dropped tokens are masked in attention. These two
have recurrent layers, which ignore attention masks.
"""

import pytest
import torch

from gleanvid.evaluation.check.reference import kept_columns, recomputed
from gleanvid.models import compressing
from gleanvid.models.generation.sampling import Sampling
from tests.models.conftest import RECURRENT
from tests.models.generation.test_conversation import ANSWERS, fresh_scores, reading
from tests.models.oracle import (
    DECODED,
    QUESTIONS,
    EveryNth,
    PairMean,
    generate,
    model_inputs,
    read_while_decoding,
)
from tests.models.tiny import noise_video

QUARTER = EveryNth(retention_ratio=0.25)


@pytest.fixture(params=list(RECURRENT))
def model(request, adapters):
    return adapters[request.param]


def test_keeping_a_quarter_equals_recomputing_the_shortened_prompt_at_every_step(model):
    inputs = model_inputs(model, QUESTIONS[:1])
    with compressing(model.hf_model, QUARTER) as record:
        output = generate(model, inputs)
    kept = kept_columns(model, inputs, [record.compression])[0]
    assert int(kept.sum()) == record.prompt_tokens_kept[0] < inputs["input_ids"].shape[1]
    steps = read_while_decoding(output, inputs)[0]
    expected = recomputed(model, inputs, kept, steps)[-len(steps) - 1 :]
    torch.testing.assert_close(torch.cat(output.logits), expected, atol=1e-5, rtol=0)
    wrong = recomputed(model, inputs, kept, steps, compact=True)[-len(steps) - 1 :]
    assert (wrong - expected).abs().max() > 0.01  # check: wrong positions would change the logits


def test_batch_with_different_kept_counts_equals_its_prompts_run_alone(model):
    videos = [noise_video(5), noise_video(8, 64, 128, seed=1)]
    inputs = model_inputs(model, QUESTIONS, videos)
    with compressing(model.hf_model, QUARTER) as record:
        together = generate(model, inputs)
    assert len({one.num_kept for (one,) in record.compressions}) == 2
    for row in range(2):
        alone = model_inputs(model, QUESTIONS[row : row + 1], videos[row : row + 1])
        with compressing(model.hf_model, QUARTER):
            expected = generate(model, alone)
        for ours, theirs in zip(together.logits, expected.logits, strict=True):
            torch.testing.assert_close(ours[row], theirs[0], atol=1e-5, rtol=0)


@pytest.mark.parametrize("compressor", [None, QUARTER, PairMean()], ids=["all", "25%", "pairs"])
def test_conversation_about_one_video_continues_from_its_recurrent_states(model, compressor):
    """Logits and scores equal those of a fresh run, even after other questions."""
    video = noise_video()
    encoded = model.encode(video)
    fresh = {}
    for question in QUESTIONS:
        with reading(model) as logits:
            text = model.generate(encoded, question, compressor, Sampling(DECODED + 1)).text
        scores = fresh_scores(model, encoded, question, ANSWERS, compressor)
        fresh[question] = text, torch.stack(logits), pytest.approx(scores, abs=1e-5)
    talk = model.conversation(encoded, compressor)
    for question in (*QUESTIONS, QUESTIONS[0]):
        text, expected, scores = fresh[question]
        with reading(model) as logits:
            answer = talk.ask(question, Sampling(DECODED + 1))
        torch.testing.assert_close(torch.stack(logits), expected, atol=1e-5, rtol=0)
        assert answer.text == text
        assert talk.score(question, ANSWERS) == scores
