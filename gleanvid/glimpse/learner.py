"""The network in training: a forward pass over a packed batch, and heads thrown away later."""

from __future__ import annotations

import types
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy, scaled_dot_product_attention
from transformers import Qwen3VLForConditionalGeneration

from gleanvid.glimpse.packing import IGNORED, Batch
from gleanvid.glimpse.world import COLOURS, DIRECTIONS, SHAPES

_KINDS = (len(SHAPES) + 1, len(COLOURS) + 1, len(DIRECTIONS) + 2)  # shape, colour, motion
_EMPTY_WEIGHT = 0.1  # most tokens show no object


class Learner(nn.Module):
    """The model and, per visual stream (last level and every DeepStack level), one linear head."""

    def __init__(self, model: Qwen3VLForConditionalGeneration) -> None:
        super().__init__()
        self.model = model
        vision: Any = model.config.vision_config
        streams = 1 + len(vision.deepstack_visual_indexes)
        heads = [nn.Linear(vision.out_hidden_size, sum(_KINDS)) for _ in range(streams)]
        self.heads = nn.ModuleList(heads)
        for block in model.model.visual.blocks:
            block.attn.forward = types.MethodType(_attend_together, block.attn)

    def encode(self, batch: Batch) -> list[Tensor]:
        """Visual streams [B * U * N, D]: the tokens, then the DeepStack levels."""
        seen = self.model.model.visual(batch.patches, grid_thw=batch.grid_thw)
        return [seen.pooler_output, *seen.deepstack_features]

    def token_loss(self, streams: list[Tensor], targets: Tensor) -> tuple[Tensor, Tensor]:
        """Cross-entropy over streams and facts, and accuracy [3] on tokens that show an object."""
        loss, shown = torch.zeros(()), targets[:, 0] > 0
        hits = torch.zeros(3)
        for level, (stream, head) in enumerate(zip(streams, self.heads, strict=True)):
            parts = head(stream).float().split(_KINDS, dim=-1)
            for fact, scores in enumerate(parts):
                weight = torch.ones(scores.shape[-1])
                weight[0] = _EMPTY_WEIGHT
                part = cross_entropy(scores, targets[:, fact], weight=weight)
                loss = loss + part * (1.0 if level == 0 else 0.3) / len(parts)
                if level == 0:
                    right = scores[shown].argmax(-1) == targets[shown, fact]
                    hits[fact] = right.float().mean()
        return loss, hits

    def answer(self, batch: Batch, streams: list[Tensor]) -> tuple[Tensor, Tensor]:
        """Scores [A, V] and labels [A] at the A positions that predict an answer token."""
        core = self.model.model
        visual = batch.ids == self.model.config.video_token_id
        embeds = core.get_input_embeddings()(batch.ids)
        embeds = embeds.masked_scatter(visual[..., None], streams[0].to(embeds.dtype))
        hidden = core.language_model(
            inputs_embeds=embeds,
            position_ids=self.positions(batch),
            attention_mask=batch.mask(),
            visual_pos_masks=visual,
            deepstack_visual_embeds=streams[1:],
            use_cache=False,
        ).last_hidden_state
        wanted = batch.labels[:, 1:] != IGNORED
        scores = self.model.lm_head(hidden[:, :-1][wanted])
        return scores.float(), batch.labels[:, 1:][wanted]

    def positions(self, batch: Batch) -> Tensor:
        """int64 [3, B, S]: the model's M-RoPE positions; each question restarts after the video."""
        film = batch.segments == 0
        kinds = 2 * (batch.ids == self.model.config.video_token_id).int()
        places, _ = self.model.model.get_rope_index(
            batch.ids,
            mm_token_type_ids=kinds,
            video_grid_thw=batch.grid_thw,
            attention_mask=film.long(),
        )
        for row, segments in enumerate(batch.segments):
            start = int(places[:, row, film[row]].max()) + 1
            for q in range(1, int(segments.max()) + 1):
                spots = segments == q
                places[:, row, spots] = start + torch.arange(int(spots.sum()))
        return places


def _attend_together(
    self: Any,
    hidden_states: Tensor,
    cu_seqlens: Tensor,
    position_embeddings: tuple[Tensor, Tensor],
    **_: object,
) -> Tensor:
    """Vision attention over all (equal) units at once; the class's own loops over them."""
    cos, sin = (part[:, None] for part in position_embeddings)
    total, size = hidden_states.shape[0], int(cu_seqlens[1])
    q, k, v = self.qkv(hidden_states).view(total, 3, self.num_heads, -1).unbind(1)
    q, k = (part.float() * cos + _rotate(part.float()) * sin for part in (q, k))
    q, k, v = (
        part.to(v.dtype).view(total // size, size, self.num_heads, -1).transpose(1, 2)
        for part in (q, k, v)
    )
    mixed = scaled_dot_product_attention(q, k, v, scale=self.scaling)
    return self.proj(mixed.transpose(1, 2).reshape(total, -1))


def _rotate(x: Tensor) -> Tensor:
    left, right = x.chunk(2, dim=-1)
    return torch.cat([-right, left], dim=-1)
