from contextlib import contextmanager
from copy import deepcopy
from dataclasses import dataclass
from typing import ClassVar

import pytest
import torch

from gleanvid.compressors.full_tokens import FullTokens
from gleanvid.models import compressing
from gleanvid.models.generation.sampling import Sampling
from tests.compressors.chain import Chain
from tests.models.conftest import DENSE, few_families
from tests.models.oracle import DECODED, EveryNth, PairMean, model_inputs
from tests.models.tiny import noise_video

QUARTER, HALF = EveryNth(retention_ratio=0.25), EveryNth(retention_ratio=0.5)
QUESTIONS = ["what moves?", "which colour is the video, and what is it that moves in it?"]
ANSWERS = ["it", "a red", "", "which?"]


@dataclass(frozen=True)
class Reading(EveryNth):
    """Compressor that reads the question: its length decides how many tokens are kept."""

    name: ClassVar[str] = "reading"
    needs: ClassVar[frozenset[str]] = frozenset({"text"})

    def _compress(self, tokens):
        return EveryNth(2 ** -(1.0 + len(tokens.text) % 3)).compress(tokens)


@dataclass(frozen=True)
class Attending(EveryNth):
    name: ClassVar[str] = "attending"
    queries: ClassVar[str] = "last"

    def _compress(self, tokens):
        assert tokens.attention is not None
        return super()._compress(tokens)


REUSING = [
    None,
    FullTokens(),
    QUARTER,
    PairMean(),
    Chain("inside", ((2, HALF),)),
    Chain("both", ((0, HALF), (1, HALF), (3, HALF))),
]
FRESH = [Reading(), Chain("attending", ((0, HALF), (2, Attending(0.5))))]
NAMES = ["none", "full", "25%", "pairs", "inside", "both", "text", "attention"]
# model families tested with all compressors; others are tested with those named in FEW
WHOLE = ("qwen3_vl", "llava_onevision")
FEW = ("pairs", "both")  # one compressor that merges, one that drops tokens at several layers
every_pair = pytest.mark.parametrize(
    ("adapter", "compressor"),
    [
        pytest.param(family, compressor, id=f"{family}-{name}")
        for family in DENSE
        for name, compressor in zip(NAMES, [*REUSING, *FRESH], strict=True)
        if family in WHOLE or name in FEW
    ],
    indirect=["adapter"],
)


@pytest.fixture(scope="module")
def clips():
    return {}


@pytest.fixture
def encoded(adapter, clips):
    """A clip of noise, encoded once by the model of each family and shared by the tests."""
    if adapter.name not in clips:
        clips[adapter.name] = adapter.encode(noise_video())
    return clips[adapter.name]


@contextmanager
def reading(adapter):
    """Yield a list; every generation step appends the logits [vocabulary] of its next token."""
    logits = []
    handle = adapter.hf_model.lm_head.register_forward_hook(
        lambda module, args, output: logits.append(output[0, -1].clone())
    )
    yield logits
    handle.remove()


def fresh_scores(adapter, encoded, question, answers, compressor):
    """Return reference scores of answers, from one forward call of the model for every token."""
    prompt, scores = model_inputs(adapter, [question], [encoded.video]), []
    with torch.no_grad(), compressing(adapter.hf_model, compressor):
        first = adapter.hf_model(**prompt, use_cache=True)
        for answer in answers:
            said = adapter.answer_ids(encoded, question, answer, ())
            logits, cache = [first.logits[0, -1]], deepcopy(first.past_key_values)
            for token in said[:-1]:
                step = adapter.hf_model(input_ids=token.view(1, 1), past_key_values=cache)
                logits.append(step.logits[0, -1])
            table = torch.stack(logits).log_softmax(-1)
            scores.append(table.gather(1, said[:, None]).mean().item())
    return scores


def skip_if_refused(adapter, compressor):
    """Skip the test if the compressor drops tokens between layers and the model cannot do so."""
    if adapter.layout.ahead_only and isinstance(compressor, Chain):
        pytest.skip("this language model cannot drop tokens between its layers")


@every_pair
def test_every_answer_of_a_conversation_equals_a_fresh_run(adapter, encoded, compressor):
    skip_if_refused(adapter, compressor)
    fresh, expected = [], []
    for question in QUESTIONS:
        with reading(adapter) as logits:
            fresh.append(adapter.generate(encoded, question, compressor, Sampling(DECODED + 1)))
        expected.append(torch.stack(logits))
    talk = adapter.conversation(encoded, compressor)
    for number in (1, 0, 1):
        with reading(adapter) as logits:
            answer = talk.ask(QUESTIONS[number], Sampling(DECODED + 1))
        assert len(logits) == DECODED + 1
        torch.testing.assert_close(torch.stack(logits), expected[number], atol=1e-5, rtol=0)
        assert answer.text == fresh[number].text
        assert answer.prompt_tokens == fresh[number].prompt_tokens
        assert answer.prompt_tokens_kept == fresh[number].prompt_tokens_kept
        assert list(answer.by_layer) == list(fresh[number].by_layer)
        for layer, record in answer.by_layer.items():
            assert torch.equal(record.keep, fresh[number].by_layer[layer].keep)
            assert torch.equal(talk.records[layer].keep, record.keep)


@every_pair
def test_scores_of_a_conversation_equal_a_fresh_run(adapter, encoded, compressor):
    skip_if_refused(adapter, compressor)
    talk = adapter.conversation(encoded, compressor)
    fresh = [fresh_scores(adapter, encoded, one, ANSWERS, compressor) for one in QUESTIONS]
    talk.ask(QUESTIONS[1], Sampling(3))
    for number in (0, 1):
        expected = pytest.approx(fresh[number], abs=1e-5)
        assert talk.score(QUESTIONS[number], ANSWERS) == expected
    assert len(set(fresh[0])) == len(ANSWERS)


@few_families
@pytest.mark.parametrize("compressor", [QUARTER, REUSING[-1], FRESH[1]], ids=["0", "in", "at"])
def test_scores_do_not_depend_on_whether_attention_supports_custom_masks(
    adapter, encoded, compressor, monkeypatch
):
    skip_if_refused(adapter, compressor)
    talk = adapter.conversation(encoded, compressor)
    together = talk.score(QUESTIONS[1], ANSWERS)
    monkeypatch.setattr("gleanvid.models.generation.conversation._TAKES_ANY_MASK", ())
    assert talk.score(QUESTIONS[1], ANSWERS) == pytest.approx(together, abs=1e-5)


def test_scored_answer_has_the_token_ids_that_the_chat_template_writes(adapter):
    """The answer's ids follow the prompt's and end with the end-of-sequence token."""
    encoded = adapter.encode(noise_video())
    tokenizer = adapter.processor.tokenizer
    ids = adapter.answer_ids(encoded, "what moves?", "a red", ())
    assert ids[-1] == tokenizer.eos_token_id
    assert tokenizer.decode(ids[:-1]).strip() == "a red"
    prompt = adapter.prompt(encoded, "what moves?", ())["input_ids"][0]
    later = adapter.prompt(encoded, "and?", [("what moves?", "a red")])["input_ids"][0]
    assert torch.equal(later[: len(prompt) + len(ids)], torch.cat([prompt, ids]))


@few_families
def test_conversation_compresses_and_prefills_the_video_once(adapter):
    calls = []

    class Counting(EveryNth):
        def _compress(self, tokens):
            calls.append(len(tokens))
            return super()._compress(tokens)

    talk = adapter.conversation(adapter.encode(noise_video()), Counting(0.25))
    widths = []
    handle = adapter.layout.language_model.register_forward_pre_hook(
        lambda module, args, kwargs: widths.append(kwargs["inputs_embeds"].shape[1]),
        with_kwargs=True,
    )
    for question in QUESTIONS:
        talk.ask(question, Sampling(1))
        talk.score(question, ANSWERS)
    handle.remove()
    assert len(calls) == 1
    # with attention windows, every answer is scored in its own forward pass
    assert len(widths) == (10 if adapter.layout.windows else 4)
    assert talk.compress_s > 0 and talk.prefill_s > 0


@few_families
def test_earlier_turns_are_placed_after_the_video(adapter):
    encoded = adapter.encode(noise_video())
    history = [(QUESTIONS[0], "a red square"), ("and then?", "it stops")]
    talk = adapter.conversation(encoded, QUARTER)
    fresh = adapter.generate(encoded, QUESTIONS[1], QUARTER, Sampling(6), history=history)
    answer = talk.ask(QUESTIONS[1], Sampling(6), history=history)
    assert (answer.text, answer.prompt_tokens) == (fresh.text, fresh.prompt_tokens)
    with_past, without = (talk.score(QUESTIONS[1], ANSWERS, history=past) for past in (history, ()))
    assert with_past != pytest.approx(without, abs=1e-3)
