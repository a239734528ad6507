"""Vision signals against a whole attention map; collecting them changes no number."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import pytest
import torch
from transformers.models.qwen3_vl.modeling_qwen3_vl import apply_rotary_pos_emb_vision

from gleanvid.compressors.base import Compressor
from gleanvid.models import compressing
from gleanvid.types import Compression
from tests.models.oracle import EveryNth, model_inputs
from tests.models.tiny import noise_video

BOTH = frozenset({"saliency", "keys"})
SEEN: list = []


@dataclass(frozen=True)
class Reading(Compressor):
    name: ClassVar[str] = "reading"
    paper: ClassVar[str] = "test"
    needs: ClassVar[frozenset[str]] = BOTH | {"text"}

    def compress(self, tokens):
        SEEN.append(tokens)
        return Compression.pruned(torch.arange(len(tokens)), tokens.grid)


def reference(adapter, video):
    """Saliency and keys per patch group [L], [L, d] from the whole map, in the tower's order."""
    attention = adapter.layout.vision_attention
    seen = {}

    def look(module, args, kwargs):
        hidden = args[0] if args else kwargs["hidden_states"]
        seen.update(hidden=hidden, borders=kwargs["cu_seqlens"], at=kwargs["position_embeddings"])

    handle = attention.register_forward_pre_hook(look, with_kwargs=True)
    encoded = adapter.encode(video)
    handle.remove()
    with torch.no_grad():
        made = attention.qkv(seen["hidden"]).view(len(seen["hidden"]), 3, attention.num_heads, -1)
    query, key, _ = made.permute(1, 0, 2, 3)
    query, key = apply_rotary_pos_emb_vision(query, key, *seen["at"])
    logits = torch.einsum("qhd,khd->hqk", query, key) * query.shape[-1] ** -0.5
    unit = torch.bucketize(torch.arange(len(query)), seen["borders"][1:], right=True)
    logits = logits.masked_fill(unit[:, None] != unit, -torch.inf)
    received = logits.softmax(-1).mean(0).sum(0) / (unit[:, None] == unit).sum(0)
    return received.view(-1, 4).mean(1), key.mean(1).view(len(encoded.tokens), 4, -1).mean(1)


def test_signals_equal_the_whole_map(adapter):
    video = noise_video(5, 90, 150)
    encoded = adapter.encode(video, BOTH)
    saliency, keys = reference(adapter, video)
    order = adapter._token_order(adapter.hf_model.config.vision_config, [encoded.tokens.grid])
    torch.testing.assert_close(encoded.tokens.saliency, saliency[order], atol=1e-7, rtol=1e-5)
    torch.testing.assert_close(encoded.tokens.keys, keys[order], atol=1e-6, rtol=1e-5)


def test_the_order_is_that_of_the_tokens(adapter):
    """The order that undoes the windows turns the merger's rows into the language model's."""
    rows = []
    merger = adapter.hf_model.model.visual.merger
    handle = merger.register_forward_hook(lambda module, args, output: rows.append(output))
    tokens = adapter.encode(noise_video(5, 90, 150)).tokens
    handle.remove()
    order = adapter._token_order(adapter.hf_model.config.vision_config, [tokens.grid])
    assert torch.equal(rows[0][order], tokens.features)


def test_collecting_changes_no_number(adapter):
    video = noise_video()
    plain, watched = adapter.encode(video), adapter.encode(video, BOTH)
    assert torch.equal(plain.tokens.features, watched.tokens.features)
    assert plain.tokens.saliency is None and plain.tokens.keys is None
    assert watched.tokens.saliency.sum() > 0


@pytest.mark.parametrize("options", [{}, {"num_beams": 2}, {"use_cache": False}], ids=str)
def test_your_own_generate_gets_the_same_signals(adapter, options):
    """Two rows of different size, also where rows are repeated for beams."""
    videos = [noise_video(5), noise_video(4, 64, 128, seed=1)]
    inputs = model_inputs(adapter, ["what?", "and which colour?"], videos)
    SEEN.clear()
    with compressing(adapter.hf_model, Reading()):
        adapter.hf_model.generate(**inputs, max_new_tokens=2, do_sample=False, **options)
    repeats = options.get("num_beams", 1)
    for row, tokens in enumerate(SEEN[: 2 * repeats]):
        alone = adapter.encode(videos[row // repeats], BOTH).tokens
        torch.testing.assert_close(tokens.saliency, alone.saliency, atol=1e-7, rtol=1e-4)
        torch.testing.assert_close(tokens.keys, alone.keys, atol=1e-5, rtol=1e-4)
        columns = torch.nonzero(inputs["input_ids"][row // repeats] == 6).squeeze(1)
        behind = inputs["input_ids"][row // repeats, columns[-1] + 1 :]
        embed = adapter.layout.language_model.get_input_embeddings()
        assert torch.equal(tokens.text, embed(behind))


def test_reuse_hands_the_signals_on_and_their_lack_is_named(adapter):
    video = noise_video()
    encoded = adapter.encode(video, BOTH)
    SEEN.clear()
    adapter.generate(encoded, "what?", Reading(), max_new_tokens=1)
    assert torch.equal(SEEN[0].saliency, encoded.tokens.saliency)
    with pytest.raises(ValueError, match="needs="):
        adapter.generate(adapter.encode(video), "what?", Reading(), max_new_tokens=1)
    adapter.generate(adapter.encode(video), "what?", EveryNth(), max_new_tokens=1)
