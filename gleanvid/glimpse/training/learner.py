"""The network in training: the forward pass over a batch, with heads for training only.

The vision tower learns to predict what each visual token shows. Shapes and colours are predicted
with the embeddings of their words, so that the embedding of "red" and the visual tokens of red
objects become similar. A middle layer of the language model learns to predict what has happened at
each visual token. The module ``targets`` says what is predicted.
"""

from __future__ import annotations

import types
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy, layer_norm, linear, scaled_dot_product_attention
from transformers import PreTrainedTokenizerFast, Qwen3VLForConditionalGeneration

from gleanvid.glimpse.training.batches import Batch
from gleanvid.glimpse.training.targets import HAPPENED, IGNORED, SEEN
from gleanvid.glimpse.world.world import COLOURS, SHAPES

_KINDS, _PASTS = tuple(SEEN.values()), tuple(HAPPENED.values())
_EMPTY_WEIGHT = 0.1  # loss weight of class 0, "no object", small as most tokens show no object
_STILL_WEIGHT = 0.02  # loss weight of class 0, "no event", small as most tokens have no event
_LEVEL_WEIGHT = 0.3  # weight of the loss at a DeepStack level
_POINTER = 64  # width of queries (questions) and keys (tokens) in the pointing loss


@dataclass(frozen=True)
class Reading:
    """Output of the language model for M visual tokens, A answer tokens and Q questions.

    V: size of the vocabulary; D: hidden size.
    """

    scores: Tensor  # [A, V], logits of the answer tokens
    labels: Tensor  # [A], ids of the right answer tokens
    weights: Tensor  # [A], loss weights of the answer tokens
    half_way: Tensor  # [M, D], hidden states of the visual tokens in a middle layer
    asking: Tensor  # [Q, D], that layer's hidden state of every question's last token

    def loss(self) -> Tensor:
        """Weighted cross-entropy of the answer tokens."""
        losses = cross_entropy(self.scores, self.labels, reduction="none")
        return (losses * self.weights).sum() / self.weights.sum()


class Learner(nn.Module):
    """The model, with linear heads that predict the training targets of every visual token.

    The vision tower gives several features for a visual token: its embedding, and one vector for
    every DeepStack level. Each of these "streams" has a head, and so has a middle layer of the
    language model. On the embeddings, shape and colour are predicted with the word embeddings.
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
        text: Any = model.config.text_config
        width = text.hidden_size
        self.past = nn.Sequential(nn.LayerNorm(width), nn.Linear(width, sum(_PASTS)))
        self.sharpness = nn.Parameter(torch.tensor(10.0))
        self.point_from, self.point_to = nn.Linear(width, _POINTER), nn.Linear(width, _POINTER)
        words = [_single(tokenizer, word) for word in (*SHAPES, *COLOURS)]
        self.register_buffer("words", torch.tensor(words), persistent=False)
        for block in model.model.visual.blocks:
            block.attn.forward = types.MethodType(_attend_together, block.attn)

    def encode(self, batch: Batch) -> list[Tensor]:
        """Run the vision tower; return its features of the visual tokens, [B * U * N, D] each.

        The first are the embeddings, the others those of every DeepStack level.
        """
        seen = self.model.model.visual(batch.patches, grid_thw=batch.grid_thw)
        return [seen.pooler_output, *seen.deepstack_features]

    def seen_loss(self, streams: list[Tensor], seen: Tensor) -> tuple[Tensor, Tensor]:
        """Return the loss of predicting ``seen``, and the accuracy for each target, [5].

        ``seen``: classes of the five targets ``SEEN``, [M, 5]. ``streams``: result of ``encode``.
        The loss of a stream is the mean cross-entropy over the targets. Losses are summed over the
        streams: the embeddings have weight 1, each DeepStack level ``_LEVEL_WEIGHT``. The accuracy
        is that of the embeddings.
        """
        loss, hits = torch.zeros((), device=seen.device), seen.new_zeros(0)
        for level, (stream, head) in enumerate(zip(streams, self.heads, strict=True)):
            parts = self._scores(stream, head, level).float().split(_KINDS, dim=-1)
            part, right = _targets_loss(parts, seen, _EMPTY_WEIGHT)
            loss = loss + part * (_LEVEL_WEIGHT if level else 1.0)
            hits = hits if level else right
        return loss, hits

    def past_loss(self, half_way: Tensor, happened: Tensor) -> tuple[Tensor, Tensor]:
        """Return the loss of predicting ``happened``, and the accuracy for each target, [8].

        ``happened``: classes of the eight targets ``HAPPENED``, [M, 8].
        ``half_way`` [M, D]: states of the visual tokens in a middle layer of the language model.
        """
        parts = self.past(half_way).float().split(_PASTS, dim=-1)
        return _targets_loss(parts, happened, _STILL_WEIGHT)

    def pointing_loss(self, reading: Reading, batch: Batch) -> tuple[Tensor, Tensor]:
        """Return the pointing loss, and how much attention lies on the tokens that show the answer.

        A head for training lets each question's last token attend to the visual tokens of its clip.
        The attention on the tokens that show the answer should be 1: the loss is minus its log.
        Both results are means over the questions for which such tokens are known.
        """
        known = batch.evidence.any(1)
        width = reading.half_way.shape[1:]
        questions = layer_norm(reading.asking[known], width)
        tokens = layer_norm(reading.half_way, width).view(len(batch.ids), -1, *width)
        keys = self.point_to(tokens)[batch.asked[known, 0]]  # [Q, U * N, _POINTER]
        scores = torch.einsum("qp,qnp->qn", self.point_from(questions), keys).float()
        shares = (scores / _POINTER**0.5).log_softmax(-1)
        found = shares.masked_fill(~batch.evidence[known], -torch.inf).logsumexp(-1)
        return -found.mean(), found.exp().mean().detach()

    def _scores(self, stream: Tensor, head: nn.Module, level: int) -> Tensor:
        """Return the class scores of all five targets, concatenated: [M, sum of their classes]."""
        scores = head(stream)
        if level:
            return scores
        table: Any = self.model.get_input_embeddings().weight
        embeddings = table[self.get_buffer("words")]
        named = linear(stream, embeddings) * self.sharpness
        shapes, colours = named.split([len(SHAPES), len(COLOURS)], dim=-1)
        empty = scores[:, :1], scores[:, _KINDS[0] : _KINDS[0] + 1]
        return torch.cat([empty[0], shapes, empty[1], colours, scores[:, sum(_KINDS[:2]) :]], -1)

    def read(self, batch: Batch, streams: list[Tensor], positions: Tensor | None = None) -> Reading:
        """Run a batch through the language model.

        ``positions`` [3, B, S]: M-RoPE positions. They must be given if visual tokens were dropped,
        as they can be computed only for whole clips.
        """
        core = self.model.model
        visual = batch.ids == self.model.config.video_token_id
        embeds = core.get_input_embeddings()(batch.ids)
        embeds = embeds.masked_scatter(visual[..., None], streams[0].to(embeds.dtype))
        passed: list[Tensor] = []
        layers = core.language_model.layers
        layer = layers[(len(layers) - 1) // 2]
        hook = layer.register_forward_hook(lambda _, __, out: passed.append(out))
        hidden = core.language_model(
            inputs_embeds=embeds,
            position_ids=self.positions(batch) if positions is None else positions,
            attention_mask=batch.mask(),
            visual_pos_masks=visual,
            deepstack_visual_embeds=streams[1:],
            use_cache=False,
        ).last_hidden_state
        hook.remove()
        wanted = batch.labels[:, 1:] != IGNORED
        scores = self.model.lm_head(hidden[:, :-1][wanted])
        labels, weights = batch.labels[:, 1:][wanted], batch.weights[:, 1:][wanted]
        return Reading(
            scores.float(), labels, weights, passed[0][visual], passed[0][*batch.asked.T]
        )

    def positions(self, batch: Batch) -> Tensor:
        """Return M-RoPE positions, int64 [3, B, S]; every question begins right after the video."""
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
        # for each token, the sequence position at which its segment (video or question) begins
        begin = torch.where(first, at, 0).cummax(1).values
        return torch.where(film, places, start + at - begin)


def _targets_loss(parts: Sequence[Tensor], targets: Tensor, zero: float) -> tuple[Tensor, Tensor]:
    """Return the mean cross-entropy over T targets, and the accuracy of each target, [T].

    ``parts``: class scores [M, classes] for each target; ``targets``: right classes, [M, T].
    Class 0 means "nothing there": ``zero`` is its loss weight, and accuracies leave it out. Where
    the right class is ``IGNORED`` there is no loss.
    """
    losses, hits = [], []
    for column, scores in enumerate(parts):
        wanted = targets[:, column]
        weight = torch.ones(scores.shape[-1], device=scores.device)
        weight[0] = zero
        total = cross_entropy(scores, wanted, weight, ignore_index=IGNORED, reduction="sum")
        losses.append(total / weight[wanted[wanted != IGNORED]].sum().clamp_min(1.0))
        labelled = wanted > 0
        hits.append((scores[labelled].argmax(-1) == wanted[labelled]).float().mean())
    return torch.stack(losses).mean(), torch.stack(hits).detach()


def _single(tokenizer: PreTrainedTokenizerFast, word: str) -> int:
    """Return the token id of a word. Raises ``ValueError`` if the word has several tokens."""
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
    """Compute a vision block's attention for all units at once; their patch counts are equal."""
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
