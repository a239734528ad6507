from dataclasses import dataclass
from functools import partial
from typing import ClassVar

import pytest
import torch
from transformers.models.gemma4.modeling_gemma4 import apply_multidimensional_rope
from transformers.models.qwen3_vl.modeling_qwen3_vl import apply_rotary_pos_emb_vision

from gleanvid.compressors.base import Compressor
from gleanvid.models import compressing
from gleanvid.models.generation.sampling import Sampling
from gleanvid.types import Compression
from tests.models.oracle import EveryNth, model_inputs, skip_if_repeats_mix, unlike_videos
from tests.models.tiny import noise_video

POOLING = (
    "visual.merger",
    "vision_resampler",
    "multi_modal_projector.pooling",
    "multi_modal_projector",
)
BOTH = frozenset({"saliency", "keys"})
SEEN: list = []


@dataclass(frozen=True)
class Reading(Compressor):
    name: ClassVar[str] = "reading"
    paper: ClassVar[str] = "test"
    needs: ClassVar[frozenset[str]] = BOTH | {"text"}

    def _compress(self, tokens):
        SEEN.append(tokens)
        return Compression.pruned(torch.arange(len(tokens)), tokens.grid)


def attention_maps(adapter, video):
    """Return queries and keys [n, H, d] of the n patches, and each patch's frame index [n].

    They come from the layer whose attention gives saliency and keys, in the tower's patch order.
    """
    attention = adapter.layout.vision_attention
    seen = {}

    def look(module, args, kwargs):
        seen.update(kwargs, hidden=args[0] if args else kwargs["hidden_states"])

    handle = attention.register_forward_pre_hook(look, with_kwargs=True)
    adapter.encode(video)
    handle.remove()
    hidden = seen["hidden"]
    if "position_ids" in seen:
        return gemma_maps(attention, hidden, seen)
    if hidden.ndim == 3 and hasattr(attention, "qkv"):
        query, key = timm_maps(attention, hidden, seen["rope"])
        return query, key, torch.arange(len(hidden)).repeat_interleave(hidden.shape[1])
    if hidden.ndim == 3:  # SigLIP, CLIP: the frames form the batch
        both = [project(hidden) for project in (attention.q_proj, attention.k_proj)]
        heads = getattr(attention, "num_heads", attention.config.num_attention_heads)
        query, key = (made.flatten(0, 1).unflatten(1, (heads, -1)) for made in both)
        return query, key, torch.arange(len(hidden)).repeat_interleave(hidden.shape[1])
    parts = (attention.q_proj, attention.k_proj) if hasattr(attention, "q_proj") else None
    made = torch.cat([part(hidden) for part in parts], 1) if parts else attention.qkv(hidden)
    query, key, *_ = made.view(len(hidden), 2 if parts else 3, attention.num_heads, -1).unbind(1)
    unit = torch.bucketize(torch.arange(len(hidden)), seen["cu_seqlens"][1:], right=True)
    return *apply_rotary_pos_emb_vision(query, key, *seen["position_embeddings"]), unit


def timm_maps(attention, hidden, rope):
    """Return a timm tower's queries and keys [T*P, H, d]; class tokens have no rotary embedding."""
    from timm.layers import apply_rot_embed_cat

    made = attention.qkv(hidden).unflatten(2, (3, attention.num_heads, -1)).permute(2, 0, 3, 1, 4)
    turned = apply_rot_embed_cat(made[:2, ..., 1:, :], rope, half=attention.rotate_half)
    query, key = torch.cat([made[:2, ..., :1, :], turned], 3).transpose(2, 3).flatten(1, 2)
    return query, key


def gemma_maps(attention, hidden, seen):
    """Implement :func:`attention_maps` for Gemma 4, without padding patches.

    Gemma 4 does not scale its attention logits, but the calling test does. So the queries are
    multiplied by the inverse of that scale.
    """
    turn = partial(apply_multidimensional_rope, position_ids=seen["position_ids"])
    both = [
        turn(norm(project(hidden).unflatten(2, (-1, attention.head_dim))), *rotary)
        for norm, project, rotary in (
            (attention.q_norm, attention.q_proj, seen["position_embeddings"]),
            (attention.k_norm, attention.k_proj, seen["position_embeddings"]),
        )
    ]
    real = (seen["position_ids"] >= 0).all(-1)
    frame = torch.arange(len(hidden))[:, None].expand_as(real)
    return both[0][real] * attention.head_dim**0.5, both[1][real], frame[real]


@torch.no_grad()
def test_saliency_and_keys_equal_those_of_the_full_attention_map(adapter):
    video = noise_video(5, 90, 150)
    tokens = adapter.encode(video, BOTH).tokens
    query, key, unit = attention_maps(adapter, video)
    logits = torch.einsum("qhd,khd->hqk", query, key) * query.shape[-1] ** -0.5
    logits = logits.masked_fill(unit[:, None] != unit, -torch.inf)
    received = logits.softmax(-1).mean(0).sum(0) / (unit[:, None] == unit).sum(0)
    pool = adapter.layout.patches_to_tokens
    saliency = pool(received[:, None], [tokens.grid]).squeeze(1)
    torch.testing.assert_close(tokens.saliency, saliency, atol=1e-7, rtol=1e-5)
    keys = pool(key.mean(1), [tokens.grid])
    torch.testing.assert_close(tokens.keys, keys, atol=1e-6, rtol=1e-5)


# model type -> (module that outputs patches, module that gets each token's patches concatenated)
SHUFFLED = {
    "smolvlm": ("vision_model.post_layernorm", "connector.modality_projection"),
    "internvl": ("vision_tower.layernorm", "multi_modal_projector"),
    "video_llama_3": ("vision_model.post_layernorm", "projector"),
}


def shuffled_rows(adapter, video, names):
    """Implement :func:`patch_rows` for models whose projector takes concatenated patches."""
    seen = []
    left, entered = (adapter.layout.core.get_submodule(name) for name in names)
    handles = [
        left.register_forward_hook(lambda module, args, output: seen.append(output)),
        entered.register_forward_pre_hook(lambda module, args: seen.append(args[0])),
    ]
    grid = adapter.encode(video).tokens.grid
    for handle in handles:
        handle.remove()
    rows, joined = seen[0], seen[-1]
    pooled = joined.unflatten(-1, (-1, rows.shape[-1])).mean(-2)
    return rows.flatten(0, -2), pooled.flatten(0, -2), grid


def gemma_rows(adapter, video):
    """Implement :func:`patch_rows` for Gemma 4, whose pooler leaves out padding patches."""
    seen = {}

    def look(module, args, kwargs, output):
        seen.update(kwargs, output=output)

    tower = adapter.layout.tower
    handle = tower.pooler.register_forward_hook(look, with_kwargs=True)
    grid = adapter.encode(video).tokens.grid
    handle.remove()
    pooled, real = seen["output"]
    rows = seen["hidden_states"][~seen["padding_positions"]]
    return rows, pooled[real] / tower.pooler.root_hidden_size, grid


def molmo_rows(adapter, video):
    """Implement :func:`patch_rows` for Molmo 2; the pooled token is the mean of its patches."""
    seen, projector = [], adapter.layout.core.multi_modal_projector
    handles = [
        module.register_forward_pre_hook(lambda module, args: seen.append(args[0]))
        for module in (projector, projector.image_pooling_2d)
    ]
    grid = adapter.encode(video).tokens.grid
    for handle in handles:
        handle.remove()
    rows, mean = seen
    return rows.flatten(0, 1), mean.squeeze(1), grid


def patch_rows(adapter, video):
    """Return the vision tower's patches, the tokens pooled from them by the model, and the grid."""
    core, seen = adapter.layout.core, []
    if adapter.hf_model.config.model_type in SHUFFLED:
        return shuffled_rows(adapter, video, SHUFFLED[adapter.hf_model.config.model_type])
    if adapter.hf_model.config.model_type == "gemma4":
        return gemma_rows(adapter, video)
    if adapter.hf_model.config.model_type == "molmo2":
        return molmo_rows(adapter, video)
    modules = {name for name, _ in core.named_modules()}
    name = next(name for name in POOLING if name in modules)
    handle = core.get_submodule(name).register_forward_hook(lambda *made: seen.append(made[1:]))
    tokens = adapter.encode(video).tokens
    handle.remove()
    ((rows, *_), pooled), *_ = seen
    if name == "visual.merger":  # one feature per token: repeat it for its four patches
        return pooled.repeat_interleave(4, 0), tokens.features, tokens.grid
    if name == "multi_modal_projector":
        return pooled.flatten(0, 1), tokens.features, tokens.grid
    classes = torch.full_like(rows[:, :1], torch.nan)
    return torch.cat([classes, rows], 1).flatten(0, 1), pooled.flatten(0, 1), tokens.grid


def test_saliency_and_keys_are_in_the_order_of_the_tokens(adapter):
    """The pooling of saliency and keys equals the model's own pooling of its patches."""
    rows, pooled, grid = patch_rows(adapter, noise_video(5, 90, 150))
    made = adapter.layout.patches_to_tokens(rows, [grid])
    torch.testing.assert_close(made, pooled, atol=1e-6, rtol=1e-6)


@pytest.mark.parametrize("options", [{}, {"num_beams": 2}], ids=str)
def test_compressors_get_the_same_signals_from_generate_as_from_encode(adapter, options):
    """The batch has two videos of different size; with two beams, each prompt comes twice."""
    videos = unlike_videos(adapter)
    inputs = model_inputs(adapter, ["what?", "and which colour?"], videos)
    if "num_beams" in options:
        skip_if_repeats_mix(adapter, inputs)
    SEEN.clear()
    with compressing(adapter.hf_model, Reading()):
        adapter.hf_model.generate(**inputs, max_new_tokens=2, do_sample=False, **options)
    repeats = options.get("num_beams", 1)
    for row, tokens in enumerate(SEEN[: 2 * repeats]):
        alone = adapter.encode(videos[row // repeats], BOTH).tokens
        torch.testing.assert_close(tokens.saliency, alone.saliency, atol=1e-7, rtol=1e-4)
        torch.testing.assert_close(tokens.keys, alone.keys, atol=1e-5, rtol=1e-4)
        columns = torch.nonzero(
            inputs["input_ids"][row // repeats] == adapter.layout.video_token_id
        ).squeeze(1)
        behind = inputs["input_ids"][row // repeats, columns[-1] + 1 :]
        embed = adapter.layout.language_model.get_input_embeddings()
        assert torch.equal(tokens.text, embed(behind))


def test_compressor_gets_a_reused_encoding_s_saliency_and_refuses_one_without_its_signals(adapter):
    video = noise_video()
    encoded = adapter.encode(video, BOTH)
    SEEN.clear()
    adapter.generate(encoded, "what?", Reading(), Sampling(1))
    assert torch.equal(SEEN[0].saliency, encoded.tokens.saliency)
    with pytest.raises(ValueError, match="needs="):
        adapter.generate(adapter.encode(video), "what?", Reading(), Sampling(1))
    adapter.generate(adapter.encode(video), "what?", EveryNth(), Sampling(1))
