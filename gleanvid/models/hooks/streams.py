"""Gradients with respect to the visual tokens that enter the language model."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

import torch
from torch import Tensor, nn
from torch.utils.checkpoint import checkpoint

from gleanvid.models.hooks.layout import Layout
from gleanvid.types import StoppedError


@contextmanager
def visual_leaves(layout: Layout, columns: Tensor) -> Iterator[list[Tensor]]:
    """Make the visual tokens of a prompt leaves of the autograd graph while the block runs.

    ``columns`` int64 [L]: places of the video's tokens in the prompt (batch size 1). Yields a list
    that every forward pass fills anew with the leaves: the tokens [L, D], then each DeepStack level
    [L, C]. Their values do not change. The graph does not contain the vision tower.
    """
    leaves: list[Tensor] = []

    def replace(module: nn.Module, args: Any, kwargs: dict[str, Any]) -> Any:
        leaves.clear()
        embeds = kwargs["inputs_embeds"]
        changed: dict[str, Any] = {"inputs_embeds": _with_leaf(embeds[0], columns, leaves)[None]}
        levels = kwargs.get("deepstack_visual_embeds")
        if levels is not None:
            rank = kwargs["visual_pos_masks"][0].to(columns.device).cumsum(0)[columns] - 1
            changed["deepstack_visual_embeds"] = [_with_leaf(one, rank, leaves) for one in levels]
        return args, kwargs | changed

    try:
        with layout.language_model.register_forward_pre_hook(replace, with_kwargs=True):
            yield leaves
    finally:
        leaves.clear()


@contextmanager
def recomputed_layers(layout: Layout, stop: threading.Event | None = None) -> Iterator[None]:
    """Use gradient checkpointing in the layers of the language model while the block runs.

    This saves memory at the cost of another pass through the layers. Once ``stop`` is set, the next
    layer raises ``StoppedError``, also in the backward pass.
    """

    def run(forward: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        if stop is not None and stop.is_set():
            raise StoppedError
        return forward(*args, **kwargs)

    layers: Any = layout.language_model.layers
    # A layer may have a replaced forward, e.g. from accelerate: restore it at the end.
    own = [vars(layer).get("forward") for layer in layers]
    for layer in layers:
        layer.forward = partial(checkpoint, partial(run, layer.forward), use_reentrant=False)
    try:
        yield
    finally:
        for layer, forward in zip(layers, own, strict=True):
            del layer.forward
            if forward is not None:
                layer.forward = forward


@contextmanager
def weights_without_gradient(hf_model: nn.Module) -> Iterator[None]:
    """Switch off the gradients of all weights while the block runs, which saves memory."""
    asking = [weight for weight in hf_model.parameters() if weight.requires_grad]
    for weight in asking:
        weight.requires_grad_(False)
    try:
        yield
    finally:
        for weight in asking:
            weight.requires_grad_(True)


def _with_leaf(stream: Tensor, rows: Tensor, leaves: list[Tensor]) -> Tensor:
    """Return ``stream`` [n, C] with a copy of its ``rows`` as a new leaf, added to ``leaves``."""
    rows = rows.to(stream.device)
    leaf = stream.detach()[rows].clone().requires_grad_()
    leaves.append(leaf)
    return torch.index_copy(stream.detach(), 0, rows, leaf)
