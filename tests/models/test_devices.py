from contextlib import contextmanager
from unittest.mock import patch

import pytest
import torch
from torch.nn.functional import scaled_dot_product_attention
from transformers import modeling_flash_attention_utils as utils

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


def one(query, key, value, softmax_scale=None, causal=False):
    """Attention of one sequence, [L, heads, width], as the package flash-attn computes it."""
    seen = torch.ones(len(query), len(key), dtype=torch.bool)
    seen = seen.tril(len(key) - len(query)) if causal else seen
    key, value = (
        part.repeat_interleave(query.shape[1] // key.shape[1], 1) for part in (key, value)
    )
    parts = (part.transpose(0, 1) for part in (query, key, value))
    return scaled_dot_product_attention(*parts, attn_mask=seen, scale=softmax_scale).transpose(0, 1)


class Flash:
    """Fake of the package flash-attn, which needs a GPU; transformers' own wrapper calls it.

    ``packed`` counts the calls of the language model that are over packed sequences.
    """

    def __init__(self):
        self.packed = 0

    def plain(self, q, k, v, softmax_scale=None, causal=False):
        rows = zip(q, k, v, strict=True)
        return torch.stack([one(*row, softmax_scale, causal) for row in rows])

    def varlen(
        self, q, k, v, cu_seqlens_q, cu_seqlens_k, max_seqlen_q, max_seqlen_k,
        softmax_scale=None, causal=False,
    ):  # fmt: skip
        self.packed += causal
        queries = q.split(cu_seqlens_q.diff().tolist())
        keys, values = (part.split(cu_seqlens_k.diff().tolist()) for part in (k, v))
        rows = zip(queries, keys, values, strict=True)
        return torch.cat([one(*row, softmax_scale, causal) for row in rows])

    def functions(self, *_, **__):
        pads = utils._pad_input, utils._unpad_input
        process = utils._lazy_define_process_function(self.varlen)
        return (self.plain, self.varlen, None, *pads), (process, dict)


@contextmanager
def flash_attention(hf_model):
    """Make the model use FlashAttention-2, with a fake of its kernels; yield the fake."""
    configs = {id(m.config): m.config for m in hf_model.modules() if hasattr(m, "config")}
    before = {name: config._attn_implementation for name, config in configs.items()}
    for config in configs.values():
        config._attn_implementation = "flash_attention_2"
    fake = Flash()
    try:
        with patch.object(utils, "lazy_import_flash_attention", fake.functions):
            yield fake
    finally:
        for name, config in configs.items():
            config._attn_implementation = before[name]


@pytest.mark.parametrize("family", ["qwen3_vl", "llava_onevision", "smolvlm"])
@pytest.mark.parametrize("method", [None, QUARTER, INSIDE], ids=["all", "ahead", "inside"])
@pytest.mark.parametrize("rows", [1, 2])
def test_masks_in_flash_attention_format_give_the_same_logits(adapters, family, method, rows):
    model = adapters[family]
    inputs = model_inputs(model, QUESTIONS[:rows])
    with compressing(model.hf_model, method):
        expected = generate(model, inputs)
    with flash_attention(model.hf_model) as fake, compressing(model.hf_model, method):
        found = generate(model, inputs)
    # one prompt has no padding: a packed call costs a device sync in every layer
    assert bool(fake.packed) == (rows > 1)
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
