"""The reference for compression: the full prompt with dropped tokens masked in attention.

A compressed prompt must give the same logits, but for rounding.

``inputs`` are the keyword arguments of one call of the model, as its processor or
``ModelAdapter.prompt`` makes them. In shapes, B is the batch size, L the number of prompt tokens,
K the number of kept ones and S the number of decoded tokens that follow the prompt.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor, nn

from gleanvid.models.base import ModelAdapter
from gleanvid.models.generation.text import with_text_behind
from gleanvid.types import Compression

Inputs = Mapping[str, Any]
_SEEN = (
    *("inputs_embeds", "position_ids", "per_layer_inputs"),
    *("visual_pos_masks", "deepstack_visual_embeds"),
)
_REPLACED = ("generate", "get_video_features", "get_image_features", "_deepstack_process")


def token_columns(model: ModelAdapter, inputs: Inputs, row: int, grid: Any) -> list[int]:
    """Return where the video's tokens are in sequence ``row`` of the batch, which has one video.

    Placeholders that stand for no cell of the video's grid, such as newlines, are left out.
    """
    placeholders = _placeholders(model, inputs, row)
    others = set(model.layout.sides(grid)[:, 0].tolist())
    columns = placeholders.squeeze(1).tolist()
    return [column for place, column in enumerate(columns) if place not in others]


def _placeholders(model: ModelAdapter, inputs: Inputs, row: int) -> Tensor:
    return torch.nonzero(model.layout.visual_columns(inputs["input_ids"], None)[row])


def kept_columns(model: ModelAdapter, inputs: Inputs, records: Sequence[Compression]) -> Tensor:
    """Return which prompt tokens compression keeps, bool [B, L].

    ``records``: the compression record of each sequence of the batch.
    """
    kept = inputs["attention_mask"].bool().clone()
    for row, record in enumerate(records):
        mask = record.mask.to(kept.device)
        kept[row, token_columns(model, inputs, row, record.grid)] = mask
        placeholders = _placeholders(model, inputs, row)
        tokens = mask.tolist()
        for place, first, stop in model.layout.sides(record.grid).tolist():
            kept[row, placeholders[place]] = any(tokens[first:stop]) or all(tokens)
    return kept


def original_positions(hf_model: Any, inputs: Inputs) -> Tensor:
    """Return the position ids [(3,) B, L] of the uncompressed prompt, as in generate()."""
    if not hasattr(hf_model.model, "get_rope_index"):
        return (inputs["attention_mask"].cumsum(1) - 1).clamp(min=0)
    if "mm_token_type_ids" not in inputs:
        return hf_model._prepare_position_ids_for_generation(inputs["input_ids"], inputs)[1:]
    sizes = ("image_grid_thw", "video_grid_thw", "second_per_grid_ts")
    grids = {name: inputs[name] for name in sizes if name in inputs}
    kinds, mask = inputs["mm_token_type_ids"], inputs["attention_mask"]
    return hf_model.model.get_rope_index(inputs["input_ids"], kinds, attention_mask=mask, **grids)[
        0
    ]


@torch.no_grad()
def masked_pass(hf_model: Any, inputs: Inputs, kept: Tensor, steps: Tensor) -> Tensor:
    """Return the logits of the whole prompt and the decoded tokens, with dropped tokens masked.

    ``kept`` bool [B, L]: the prompt tokens that attention may read. ``steps`` [B, S]: ids of the
    decoded tokens.
    """
    full = with_text_behind(inputs, steps)
    positions = original_positions(hf_model, full)
    full["attention_mask"] = torch.cat([kept.long(), torch.ones_like(steps)], 1)
    return hf_model(**full, position_ids=positions, use_cache=False).logits


@torch.no_grad()
def recomputed(
    model: ModelAdapter, inputs: Inputs, kept: Tensor, steps: Tensor, compact: bool = False
) -> Tensor:
    """Return the reference logits [K + S, vocabulary] from a pass over the kept tokens only.

    This is for models with layers that ignore attention masks. The pass reads the K prompt tokens
    in ``kept`` (bool [L]) and the decoded tokens ``steps`` [S], without a cache. Tokens have their
    original positions. With ``compact``, they are numbered from 0 instead.
    """
    with language_model_calls(model) as calls:
        model.layout.core(**inputs, use_cache=False)
    seen = calls[0]
    whole = seen.get("position_ids")
    if whole is None:
        whole = torch.arange(len(kept), device=kept.device).expand(3, 1, -1)
    positions = whole[-3:, :, kept]
    language_model: Any = model.layout.language_model
    later = whole.max() + 1 + torch.arange(len(steps), device=kept.device)
    positions = torch.cat([positions, later.expand(3, 1, -1)], 2)
    if compact:
        positions = torch.arange(positions.shape[2], device=kept.device).expand_as(positions)
    said = language_model.get_input_embeddings()(steps)[None]
    embeds = torch.cat([seen["inputs_embeds"][:, kept], said], 1)
    output = language_model(
        inputs_embeds=embeds,
        position_ids=positions,
        attention_mask=torch.ones(embeds.shape[:2], dtype=torch.long, device=kept.device),
        use_cache=False,
    )
    return model.hf_model.get_output_embeddings()(output.last_hidden_state[0])


@contextmanager
def language_model_calls(model: ModelAdapter) -> Iterator[list[dict[str, Any]]]:
    """Collect the arguments of every call of the language model while the block runs.

    Embeddings, position ids and DeepStack levels are collected, as changed by earlier hooks.
    """
    calls: list[dict[str, Any]] = []

    def look(module: nn.Module, args: Any, kwargs: dict[str, Any]) -> None:
        calls.append({name: kwargs[name] for name in _SEEN if name in kwargs})

    with model.layout.language_model.register_forward_pre_hook(look, with_kwargs=True):
        yield calls


@contextmanager
def compact_positions(model: ModelAdapter) -> Iterator[None]:
    """While the block runs, give the kept tokens the positions 0, 1, 2 ...

    This fault is deliberate: checks must notice it, as kept tokens keep their original positions.
    """

    def compact(module: nn.Module, args: Any, kwargs: dict[str, Any]) -> Any:
        given, length = kwargs["position_ids"], kwargs["inputs_embeds"].shape[1]
        positions = torch.arange(length, device=given.device).expand_as(given)
        return args, kwargs | {"position_ids": positions}

    with model.layout.language_model.register_forward_pre_hook(compact, with_kwargs=True):
        yield


def hook_count(hf_model: nn.Module) -> int:
    """Count the forward hooks on all modules, and the methods replaced on single modules."""
    modules = list(hf_model.modules())
    hooks = sum(len(one._forward_pre_hooks) + len(one._forward_hooks) for one in modules)
    return hooks + sum(name in vars(one) for one in modules for name in (*_REPLACED, "forward"))
