from __future__ import annotations

from contextlib import contextmanager
from unittest.mock import patch

import pytest
import torch
from torch.nn.functional import scaled_dot_product_attention
from transformers.modeling_utils import ALL_ATTENTION_FUNCTIONS

from gleanvid.models import compressing
from gleanvid.models.hooks.decoding import Prefilled
from gleanvid.models.hooks.layers import _cut_table
from gleanvid.models.hooks.masks import narrowed_mask
from gleanvid.models.hooks.sequence import Span, plan_prompt, reduce_packed, reduce_rows
from gleanvid.types import Compression, VideoTokens
from tests.compressors.chain import Chain
from tests.models.oracle import QUESTIONS, EveryNth, generate, model_inputs
from tests.models.tiny import noise_video

QUARTER = EveryNth(0.25)
INSIDE = Chain("inside", ((0, EveryNth(0.5)), (2, EveryNth(0.5))))


def flash(module, query, key, value, attention_mask, scaling=None, **options):
    """Fake of FlashAttention-2: attention with a padding mask [B, S] or sequence boundaries."""
    assert attention_mask is None or attention_mask.ndim == 2
    rows, columns = query.shape[2], key.shape[2]
    seen = torch.ones(rows, columns, dtype=torch.bool)
    if options.get("cu_seq_lens_q") is not None:
        number = torch.bucketize(torch.arange(rows), options["cu_seq_lens_q"], right=True)
        seen = number[:, None] == number
    elif options.get("is_causal", getattr(module, "is_causal", True)):
        seen = seen.tril(columns - rows)
    if attention_mask is not None:
        assert attention_mask.shape[1] == columns
        seen = seen & attention_mask[:, None, None].bool()
        if rows == columns:  # padding tokens attend to themselves: no NaN
            seen = seen | torch.eye(rows, dtype=torch.bool)
    groups = query.shape[1] // key.shape[1]
    key, value = (part.repeat_interleave(groups, 1) for part in (key, value))
    made = scaled_dot_product_attention(query, key, value, attn_mask=seen, scale=scaling)
    return made.transpose(1, 2), None


@contextmanager
def flash_attention(hf_model):
    """Make the model call ``flash`` with the arguments of FlashAttention-2."""
    configs = {id(m.config): m.config for m in hf_model.modules() if hasattr(m, "config")}
    before = {name: config._attn_implementation for name, config in configs.items()}
    for config in configs.values():
        config._attn_implementation = "flash_attention_2"
    try:
        with patch.dict(ALL_ATTENTION_FUNCTIONS._local_mapping, flash_attention_2=flash):
            yield
    finally:
        for name, config in configs.items():
            config._attn_implementation = before[name]


@pytest.mark.parametrize("family", ["qwen3_vl", "llava_onevision"])
@pytest.mark.parametrize("method", [None, QUARTER, INSIDE], ids=["all", "ahead", "inside"])
@pytest.mark.parametrize("rows", [1, 2])
def test_masks_in_flash_attention_format_give_the_same_logits(adapters, family, method, rows):
    model = adapters[family]
    inputs = model_inputs(model, QUESTIONS[:rows])
    with compressing(model.hf_model, method):
        expected = generate(model, inputs)
    with flash_attention(model.hf_model), compressing(model.hf_model, method):
        found = generate(model, inputs)
    for ours, theirs in zip(found.logits, expected.logits, strict=True):
        torch.testing.assert_close(ours, theirs, atol=1e-5, rtol=0)


@pytest.mark.parametrize("family", ["qwen3_vl", "qwen2_5_vl"])
def test_flash_attention_over_packed_frames_gives_the_same_saliency_and_keys(adapters, family):
    model, needs = adapters[family], frozenset({"saliency", "keys"})
    expected = model.encode(noise_video(8), needs).tokens
    with flash_attention(model.hf_model):
        found = model.encode(noise_video(8), needs).tokens
    for name in needs:
        torch.testing.assert_close(getattr(found, name), getattr(expected, name))


def prompt(method):
    """Compress a prompt of 12 video and 8 text tokens; return what ``reduce_rows`` needs."""
    present, columns = torch.ones(1, 20, dtype=torch.bool), torch.arange(3, 15)
    spans = [[Span(columns, (3, 2, 2))]]
    tokens = VideoTokens(torch.zeros(12, 1), (3, 2, 2))
    records: list[list[Compression]] = [[method.compress(tokens)]]
    return spans, records, plan_prompt(present, spans, records)


def test_hidden_states_on_another_device_stay_on_their_device():
    """Simulates device_map with device "meta", which accepts CPU indices but no other tensor."""
    spans, records, plan = prompt(QUARTER)
    stream = torch.zeros(1, 20, 8, device="meta")
    width = plan.index.shape[1]
    assert reduce_rows(stream, plan, spans, records).shape == (1, width, 8)
    assert _cut_table(torch.zeros(1, 20, 4, device="meta"), plan).shape == (1, width, 4)
    visual = torch.zeros(1, 20, dtype=torch.bool)
    visual[0, 3:15] = True
    (level,), _ = reduce_packed([torch.zeros(12, 8, device="meta")], visual, plan, spans, records)
    assert level.is_meta and len(level) == records[0][0].num_kept
    mask = torch.zeros(1, 1, 20, 20, dtype=torch.bool, device="meta")
    cut = narrowed_mask(mask, plan, 20, prefilling=True, static=False)
    assert cut.is_meta and cut.shape[2:] == (width, width)
    prefilled = Prefilled(plan.mask, False, torch.tensor([20]), 0)
    assert prefilled.positions_from(width, 2, torch.device("meta")).is_meta
