"""The network in training: a forward pass over a packed batch, and what is thrown away later.

The encoder learns to say, token by token, which shape and colour stands there in the very
embeddings of those words: a question's word and the tokens it is about then meet in one space.
"""

from __future__ import annotations

import types
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy, linear, scaled_dot_product_attention
from transformers import PreTrainedTokenizerFast, Qwen3VLForConditionalGeneration

from gleanvid.glimpse.packing import IGNORED, Batch
from gleanvid.glimpse.world import COLOURS, DIRECTIONS, SHAPES

_KINDS = (len(SHAPES) + 1, len(COLOURS) + 1, len(DIRECTIONS) + 2)  # shape, colour, motion
_EMPTY_WEIGHT = 0.1  # most tokens show no object
_LEVEL_WEIGHT = 0.3  # of a DeepStack level beside the tokens themselves


class Learner(nn.Module):
    """The model, and per visual stream (the tokens, every DeepStack level) linear heads.

    For the tokens themselves, the heads of shape and colour are the word embeddings.
    """

    def __init__(
        self, model: Qwen3VLForConditionalGeneration, tokenizer: PreTrainedTokenizerFast
    ) -> None:
        super().__init__()
        self.model = model
        vision: Any = model.config.vision_config
        streams = 1 + len(vision.deepstack_visual_indexes)
        heads = [nn.Linear(vision.out_hidden_size, sum(_KINDS)) for _ in range(streams)]
        self.heads = nn.ModuleList(heads)
        self.sharpness = nn.Parameter(torch.tensor(10.0))
        words = [_single(tokenizer, word) for word in (*SHAPES, *COLOURS)]
        self.register_buffer("words", torch.tensor(words), persistent=False)
        for block in model.model.visual.blocks:
            block.attn.forward = types.MethodType(_attend_together, block.attn)

    def encode(self, batch: Batch) -> list[Tensor]:
        """Visual streams [B * U * N, D]: the tokens, then the DeepStack levels."""
        seen = self.model.model.visual(batch.patches, grid_thw=batch.grid_thw)
        return [seen.pooler_output, *seen.deepstack_features]

    def token_loss(self, streams: list[Tensor], targets: Tensor) -> tuple[Tensor, Tensor]:
        """Cross-entropy over streams and facts, and accuracy [3] on tokens that show an object."""
        loss = torch.zeros((), device=targets.device)
        hits = torch.zeros(3, device=targets.device)
        for level, (stream, head) in enumerate(zip(streams, self.heads, strict=True)):
            parts = self._scores(stream, head, level).float().split(_KINDS, dim=-1)
            for fact, scores in enumerate(parts):
                weight = torch.ones(scores.shape[-1], device=scores.device)
                weight[0] = _EMPTY_WEIGHT
                part = cross_entropy(scores, targets[:, fact], weight, ignore_index=IGNORED)
                loss = loss + part * (_LEVEL_WEIGHT if level else 1.0) / len(parts)
                if level == 0:
                    shown = targets[:, fact] > 0
                    right = scores[shown].argmax(-1) == targets[shown, fact]
                    hits[fact] = right.float().mean()
        return loss, hits

    def _scores(self, stream: Tensor, head: nn.Module, level: int) -> Tensor:
        """[M, 27]: nothing and the shapes, nothing and the colours, nothing and the motions."""
        scores = head(stream)
        if level:
            return scores
        table: Any = self.model.get_input_embeddings().weight
        embeddings = table[self.get_buffer("words")]
        named = linear(stream, embeddings) * self.sharpness
        shapes, colours = named.split([len(SHAPES), len(COLOURS)], dim=-1)
        empty = scores[:, :1], scores[:, _KINDS[0] : _KINDS[0] + 1]
        return torch.cat([empty[0], shapes, empty[1], colours, scores[:, sum(_KINDS[:2]) :]], -1)

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
        start = places.amax(0).masked_fill(~film, 0).amax(1, keepdim=True) + 1  # [B, 1]
        at = torch.arange(batch.ids.shape[1], device=film.device).expand_as(batch.ids)
        first = torch.cat([film.new_ones(len(film), 1), batch.segments.diff(dim=1) != 0], 1)
        begin = torch.where(first, at, 0).cummax(1).values  # where the segment of a column begins
        return torch.where(film, places, start + at - begin)


def _single(tokenizer: PreTrainedTokenizerFast, word: str) -> int:
    """The one token of a word. Raises ``ValueError`` where it has more."""
    ids = tokenizer(word)["input_ids"]
    if len(ids) != 1:
        raise ValueError(f"{word!r} is {len(ids)} tokens, not one: raise VOCABULARY_SIZE")
    return int(ids[0])


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
