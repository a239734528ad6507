"""Turns of a chat over one cache: cropped, copied, reordered, in other blocks and outside."""

from copy import deepcopy

import pytest
import torch
from transformers import DynamicCache, StaticCache

from gleanvid.models import compressing
from gleanvid.types import ModelError
from tests.models.hooks.test_scripts import NEW_IDS, QUARTER, scripted
from tests.models.oracle import (
    QUESTIONS,
    generate,
    kept_columns,
    masked_logits,
    model_inputs,
    unlike_videos,
)


def second_turn(adapter, inputs, cache, output, **more):
    """Ask again with the whole conversation, as a chat script does."""
    ids = torch.cat([output.sequences, NEW_IDS], 1)
    more["attention_mask"] = torch.ones_like(ids)
    if "mm_token_type_ids" in inputs:
        width = ids.shape[1] - inputs["input_ids"].shape[1]
        more["mm_token_type_ids"] = torch.nn.functional.pad(inputs["mm_token_type_ids"], (0, width))
    return ids, generate(adapter, {"input_ids": ids, "past_key_values": cache, **more}, 2)


@scripted
def test_second_turn_with_all_ids_reads_only_the_new_ones(adapter):
    inputs = model_inputs(adapter, QUESTIONS[:1])
    cache, other = (DynamicCache(config=adapter.text_config) for _ in range(2))
    with compressing(adapter.hf_model, QUARTER) as record:
        first = generate(adapter, {**inputs, "past_key_values": cache}, 3)
        kept = kept_columns(adapter, inputs, [record.compression])
        branch = deepcopy(cache)
        # another prompt between the turns must not disturb the first one's
        generate(adapter, {**model_inputs(adapter, QUESTIONS[1:]), "past_key_values": other}, 2)
        ids, again = second_turn(adapter, inputs, cache, first)
        _, copied = second_turn(adapter, inputs, branch, first)
    length = inputs["input_ids"].shape[1]
    assert torch.equal(again.sequences[:, : ids.shape[1]], ids)
    _, expected = masked_logits(adapter.hf_model, inputs, kept, ids[:, length:])
    torch.testing.assert_close(again.logits[0], expected[:, -1], atol=1e-4, rtol=0)
    torch.testing.assert_close(copied.logits[0], expected[:, -1], atol=1e-4, rtol=0)


@scripted
def test_cache_of_a_compressed_prompt_goes_on_in_another_block_and_is_refused_outside(adapter):
    inputs = model_inputs(adapter, QUESTIONS[:1])
    cache = DynamicCache(config=adapter.text_config)
    with compressing(adapter.hf_model, QUARTER) as record:
        first = generate(adapter, {**inputs, "past_key_values": cache}, 3)
    with pytest.raises(ModelError, match=r"cache holds a compressed prompt.*compressing"):
        second_turn(adapter, inputs, cache, first)
    with compressing(adapter.hf_model, QUARTER):
        ids, again = second_turn(adapter, inputs, cache, first)
    kept = kept_columns(adapter, inputs, [record.compression])
    _, expected = masked_logits(
        adapter.hf_model, inputs, kept, ids[:, inputs["input_ids"].shape[1] :]
    )
    torch.testing.assert_close(again.logits[0], expected[:, -1], atol=1e-4, rtol=0)


def test_cache_that_was_reset_reads_another_prompt_whole(qwen3):
    first, second = (model_inputs(qwen3, [question]) for question in QUESTIONS)
    cache = StaticCache(config=qwen3.text_config, max_cache_len=256)
    with compressing(qwen3.hf_model, QUARTER):
        expected = generate(qwen3, second, 2).logits
        generate(qwen3, {**first, "past_key_values": cache}, 2)
        cache.reset()
        found = generate(qwen3, {**second, "past_key_values": cache}, 2).logits
    torch.testing.assert_close(found, expected, atol=1e-4, rtol=0)


def test_ids_of_part_of_the_conversation_are_refused(qwen3):
    inputs = model_inputs(qwen3, QUESTIONS[:1])
    cache = DynamicCache(config=qwen3.text_config)
    with compressing(qwen3.hf_model, QUARTER):
        generate(qwen3, {**inputs, "past_key_values": cache}, 2)
        with pytest.raises(ValueError, match="pass the ids of the whole conversation"):
            generate(qwen3, {"input_ids": NEW_IDS, "past_key_values": cache}, 2)


@pytest.mark.parametrize("lost", [3, 6])
@scripted
def test_cache_cropped_into_the_question_is_read_again_at_the_same_places(adapter, lost):
    if adapter.layout.windows:
        pytest.skip("transformers cannot crop caches of windowed attention")
    inputs = model_inputs(adapter, QUESTIONS[:1])
    cache = DynamicCache(config=adapter.text_config)
    with compressing(adapter.hf_model, QUARTER) as record:
        first = generate(adapter, {**inputs, "past_key_values": cache}, 3)
        kept = kept_columns(adapter, inputs, [record.compression])
        cache.crop(-lost)
        ids, again = second_turn(adapter, inputs, cache, first)
    length = inputs["input_ids"].shape[1]
    _, expected = masked_logits(adapter.hf_model, inputs, kept, ids[:, length:])
    torch.testing.assert_close(again.logits[0], expected[:, -1], atol=1e-4, rtol=0)


def batch_turn(adapter, inputs, rows):
    """Return the logits of a second turn of the conversations ``rows`` of a batch."""
    cache = DynamicCache(config=adapter.text_config)
    first = generate(adapter, {**inputs, "past_key_values": cache}, 3)
    cache.batch_select_indices(torch.tensor(rows))
    ids = torch.cat([first.sequences, NEW_IDS.expand(len(first.sequences), -1)], 1)[rows]
    width = ids.shape[1] - inputs["input_ids"].shape[1]
    pads = {"attention_mask": 1, "mm_token_type_ids": 0}
    more = {
        name: torch.nn.functional.pad(inputs[name], (0, width), value=value)[rows]
        for name, value in pads.items()
        if name in inputs
    }
    return generate(adapter, {"input_ids": ids, "past_key_values": cache, **more}, 1).logits[0]


@pytest.mark.parametrize("rows", [[1, 0], [1]])
@scripted
def test_reordered_rows_of_a_cache_keep_their_prompts(adapter, rows):
    inputs = model_inputs(adapter, QUESTIONS, unlike_videos(adapter))
    with compressing(adapter.hf_model, QUARTER):
        straight = batch_turn(adapter, inputs, [0, 1])
        found = batch_turn(adapter, inputs, rows)
    torch.testing.assert_close(found, straight[rows], atol=1e-4, rtol=0)


def test_conversation_with_another_beginning_and_pixels_in_a_later_turn_are_refused(qwen3):
    inputs = model_inputs(qwen3, QUESTIONS[:1])
    cache = DynamicCache(config=qwen3.text_config)
    with compressing(qwen3.hf_model, QUARTER):
        first = generate(qwen3, {**inputs, "past_key_values": cache}, 3)
        with pytest.raises(ValueError, match="a later turn without pixels"):
            generate(qwen3, {**inputs, "past_key_values": cache}, 1)
        first.sequences[0, 0] += 1
        with pytest.raises(ValueError, match="do not begin with the prompts in the cache"):
            second_turn(qwen3, inputs, cache, first)
