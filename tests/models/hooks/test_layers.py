"""Compression at inner layers gives the same logits as masking the dropped tokens there."""

from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import partial

import pytest
import torch

from gleanvid.compressors.full_tokens import FullTokens
from gleanvid.models import compressing
from gleanvid.types import Compression
from tests.compressors.chain import Chain
from tests.models.conftest import DENSE, INSIDE
from tests.models.oracle import (
    QUESTIONS,
    EveryNth,
    IdentityMerge,
    PairMean,
    Tilted,
    generate,
    left_by_layer,
    masked_logits,
    model_inputs,
    read_while_decoding,
    repeats_mix,
    unlike_videos,
)

HALF = EveryNth(retention_ratio=0.5)
CHAINS = [
    Chain("one", ((1, HALF),)),
    Chain("two", ((2, HALF),)),
    Chain("three", ((3, HALF),)),
    Chain("ahead-and-inside", ((0, Tilted(retention_ratio=0.5)), (2, HALF))),
    Chain("twice-inside", ((1, HALF), (3, HALF))),
    Chain("thrice", ((0, HALF), (1, HALF), (4, HALF))),
]
# model families tested with all compressor chains, each on one prompt and on a batch of two
WHOLE = ("qwen3_vl", "llava_onevision")
# name of a compressor chain tested with the other families -> number of prompts in the batch
FEW = {"ahead-and-inside": 2, "twice-inside": 1, "thrice": 2}
every_pair = pytest.mark.parametrize(
    ("oracle_adapter", "chain", "rows"),
    [
        pytest.param(family, chain, rows, id=f"{family}-{chain.name}-{rows}")
        for family in INSIDE
        for chain in CHAINS
        for rows in (1, 2)
        if family in WHOLE or FEW.get(chain.name) == rows
    ],
    indirect=["oracle_adapter"],
)
ROWS: list[int] = []  # number of tokens of each prompt that Uneven has compressed


@dataclass(frozen=True)
class Uneven(EveryNth):
    """Compressor that keeps 1 token of the first prompt of a batch and 9 of the second."""

    def _compress(self, tokens):
        ROWS.append(len(tokens))
        return Compression.pruned(
            torch.arange(8 * len(ROWS) - 7), tokens.grid, num_tokens=len(tokens)
        )


@pytest.fixture(params=[family for family in DENSE if family in INSIDE])
def adapter(request, adapters):
    return adapters[request.param]


@pytest.fixture
def oracle_adapter(request, adapters):
    return adapters[request.param]


def oracle_logits(adapter, inputs, layers, steps):
    """Return reference logits: the uncompressed model, with dropped tokens masked in each layer."""
    new = steps.shape[1]

    def hide(kept, module, args, kwargs):
        count, length = kept.shape
        columns = torch.cat([kept, kept.new_ones(count, new)], 1)
        seen = torch.ones(length + new, length + new, dtype=torch.bool).tril()
        if adapter.layout.masked:  # not causal: frames attend to later frames
            seen = kwargs["attention_mask"]
        mask = seen & columns[:, None, None]
        return args, kwargs | {"attention_mask": mask | torch.eye(length + new, dtype=torch.bool)}

    with ExitStack() as stack:
        for layer, kept in zip(adapter.layout.language_model.layers, layers, strict=True):
            hook = partial(hide, kept)
            stack.callback(layer.register_forward_pre_hook(hook, with_kwargs=True).remove)
        return masked_logits(adapter.hf_model, inputs, inputs["attention_mask"].bool(), steps)


@every_pair
def test_stages_inside_the_model_equal_masking_layer_by_layer(oracle_adapter, chain, rows):
    adapter = oracle_adapter
    videos = unlike_videos(adapter)[:rows]  # the two prompts keep different numbers of tokens
    inputs = model_inputs(adapter, QUESTIONS[:rows], videos)
    with compressing(adapter.hf_model, chain) as record:
        output = generate(adapter, inputs)
        prefill = adapter.hf_model(**inputs).logits
    layers = left_by_layer(adapter, inputs, record, len(adapter.layout.language_model.layers))
    assert int(layers[-1].sum()) < int(inputs["attention_mask"].sum())
    steps = read_while_decoding(output, inputs)
    whole, decoded = oracle_logits(adapter, inputs, layers, steps)
    for row in range(rows):
        kept = layers[-1][row]
        ours = prefill[row, -int(kept.sum()) :]
        torch.testing.assert_close(ours, whole[row][kept], atol=1e-5, rtol=0)
    torch.testing.assert_close(torch.stack(output.logits, 1), decoded, atol=1e-5, rtol=0)


def test_stages_inside_the_model_work_with_static_cache_without_cache_and_with_beams(adapter):
    inputs = model_inputs(adapter, QUESTIONS)
    mixed = repeats_mix(adapter, inputs)
    with compressing(adapter.hf_model, CHAINS[3]) as record:
        expected = generate(adapter, inputs).sequences
        for options in ({"cache_implementation": "static"}, {"use_cache": False}):
            found = generate(adapter, inputs, **options).sequences
            assert torch.equal(found, expected), options
        if not mixed:
            found = generate(adapter, inputs, num_beams=2).sequences
            assert len(record.stages[2]) == 2 * len(QUESTIONS)
            assert found.shape == expected.shape


def test_second_turn_continues_a_cache_with_fewer_tokens_in_later_layers(adapter):
    inputs = model_inputs(adapter, QUESTIONS[:1])
    tail = torch.tensor([[20, 33, 41, 57]])
    with compressing(adapter.hf_model, CHAINS[4]) as record:
        first = adapter.hf_model(**inputs, use_cache=True)
        again = adapter.hf_model(input_ids=tail, past_key_values=first.past_key_values)
    layers = left_by_layer(adapter, inputs, record, len(adapter.layout.language_model.layers))
    _, decoded = oracle_logits(adapter, inputs, layers, tail)
    torch.testing.assert_close(again.logits, decoded[:, 1:], atol=1e-5, rtol=0)


@contextmanager
def compact_rotary_rows(adapter, stage):
    """From layer ``stage`` on, wrongly give kept tokens the first tokens' rotary positions."""
    layers, whole = adapter.layout.language_model.layers, []

    def look(module, args, kwargs):
        whole[:] = kwargs["position_embeddings"]

    def compact(module, args, kwargs):
        length = kwargs["position_embeddings"][0].shape[-2]
        assert length < whole[0].shape[-2]
        return args, kwargs | {"position_embeddings": tuple(t[..., :length, :] for t in whole)}

    with ExitStack() as stack:
        for layer, hook in [(layers[0], look), *((layer, compact) for layer in layers[stage:])]:
            stack.callback(layer.register_forward_pre_hook(hook, with_kwargs=True).remove)
        yield


def test_renumbering_rotary_positions_inside_the_model_changes_the_logits(adapter):
    inputs = model_inputs(adapter, QUESTIONS[:1])
    with torch.no_grad(), compressing(adapter.hf_model, CHAINS[1]):
        right = adapter.hf_model(**inputs).logits
        with compact_rotary_rows(adapter, 2):
            wrong = adapter.hf_model(**inputs).logits
    assert (right - wrong).abs().max() > 0.01


@pytest.mark.parametrize("stage", [FullTokens(), IdentityMerge()], ids=["full", "identity"])
def test_keeping_all_tokens_inside_the_model_is_bit_identical(adapter, stage):
    inputs = model_inputs(adapter, QUESTIONS[:1])
    plain = generate(adapter, inputs)
    with compressing(adapter.hf_model, Chain("all", ((0, FullTokens()), (2, stage)))):
        same = generate(adapter, inputs)
    assert all(torch.equal(a, b) for a, b in zip(plain.logits, same.logits, strict=True))


def test_merging_inside_the_model_merges_hidden_states_and_later_deepstack_levels(qwen3):
    """Merging before layer 1 averages hidden states and the next DeepStack level's features."""
    inputs = model_inputs(qwen3, QUESTIONS[:1])
    lm, entering, behind = qwen3.layout.language_model, [], []
    visual = inputs["input_ids"][0] == qwen3.layout.video_token_id

    def run():
        first = lm.layers[1].input_layernorm.register_forward_pre_hook(
            lambda module, args: entering.append(args[0][0])
        )
        original = lm._deepstack_process

        def levels(hidden, mask, level):
            behind.append((mask, level))
            return original(hidden, mask, level)

        lm._deepstack_process = levels
        qwen3.hf_model(**inputs)
        del lm._deepstack_process
        first.remove()

    run()
    with torch.no_grad():
        full_levels, behind[:] = list(behind), []
        lm_chain = Chain("merge", ((1, PairMean()),))
        with compressing(qwen3.hf_model, lm_chain):
            wrapped = lm._deepstack_process
            first = lm.layers[1].input_layernorm.register_forward_pre_hook(
                lambda module, args: entering.append(args[0][0])
            )
            qwen3.hf_model(**inputs)
            first.remove()
            mask, level = full_levels[1]
            zero = torch.zeros(1, mask.shape[1] - int(visual.sum()) // 2, level.shape[1])
            added = wrapped(zero, mask, level)[0]
    full, short = entering
    pairs = full[visual].view(-1, 2, full.shape[1]).mean(1)
    new = ~torch.isin(torch.arange(len(visual)), torch.nonzero(visual).squeeze(1)[1::2])
    torch.testing.assert_close(short[visual[new]], pairs, atol=1e-5, rtol=0)
    assert torch.equal(short[~visual[new]], full[~visual])
    expected = level.view(-1, 2, level.shape[1]).mean(1)
    torch.testing.assert_close(added[visual[new]], expected, atol=1e-6, rtol=0)


def test_prompt_of_a_batch_that_becomes_shorter_inside_the_model_is_padded_there(adapter):
    """Prompt 0 is unpadded at layer 0 but keeps fewer tokens, so it is padded from layer 2 on."""
    inputs = model_inputs(adapter, ["what moves?!", "what moves?"])
    assert bool(inputs["attention_mask"][0].all()) and not bool(inputs["attention_mask"][1].all())
    ROWS.clear()
    with compressing(adapter.hf_model, Chain("uneven", ((2, Uneven()),))) as record:
        output = generate(adapter, inputs)
    assert [made[0].num_kept for made in record.stages[2]] == [1, 9]
    layers = left_by_layer(adapter, inputs, record, len(adapter.layout.language_model.layers))
    steps = read_while_decoding(output, inputs)
    _, decoded = oracle_logits(adapter, inputs, layers, steps)
    torch.testing.assert_close(torch.stack(output.logits, 1), decoded, atol=1e-5, rtol=0)


def test_stage_that_keeps_unequal_counts_of_two_identical_prompts_is_refused(qwen3):
    inputs = model_inputs(qwen3, ["what?", "what?"])
    ROWS.clear()
    with (
        pytest.raises(ValueError, match="equally many"),
        compressing(qwen3.hf_model, Chain("uneven", ((1, Uneven()),))),
    ):
        qwen3.hf_model(**inputs)
