"""Rows of visual tokens at the entrance of the language model, as leaves of a gradient."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

import torch
from torch import Tensor, nn
from torch.utils.checkpoint import checkpoint

from gleanvid.models.boundary.layout import Layout
from gleanvid.types import StoppedError


@contextmanager
def visual_leaves(layout: Layout, columns: Tensor) -> Iterator[list[Tensor]]:
    """Context in which the visual rows of a prompt are leaves of the autograd graph.

    ``columns`` int64 [L]: where the video's tokens stand in the prompt, a batch of one. Yields a
    list that every pass fills anew: the tokens [L, D], then each DeepStack level [L, C]. Values
    do not change. Nothing behind the leaves, such as the vision tower, is in the graph.
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

    handle = layout.language_model.register_forward_pre_hook(replace, with_kwargs=True)
    try:
        yield leaves
    finally:
        handle.remove()
        leaves.clear()


@contextmanager
def recomputed_layers(layout: Layout, stop: threading.Event | None = None) -> Iterator[None]:
    """Context with gradient checkpointing: layers store only their input and run again later.

    A graph then holds one row of hidden states per layer and the activations of a single layer,
    for a third pass through the model. Once ``stop`` is set, no layer runs again: the backward
    pass raises ``StoppedError``.
    """

    def run(forward: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        if stop is not None and stop.is_set():
            raise StoppedError
        return forward(*args, **kwargs)

    layers: Any = layout.language_model.layers
    own = [
        vars(layer).get("forward") for layer in layers
    ]  # accelerate replaces forward on instances
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
    """Context in which no weight requires a gradient, so that a graph holds only activations."""
    asking = [weight for weight in hf_model.parameters() if weight.requires_grad]
    for weight in asking:
        weight.requires_grad_(False)
    try:
        yield
    finally:
        for weight in asking:
            weight.requires_grad_(True)


def _with_leaf(stream: Tensor, rows: Tensor, leaves: list[Tensor]) -> Tensor:
    """Return the stream [n, C] with its ``rows`` replaced by a new leaf of equal values."""
    rows = rows.to(stream.device)
    leaf = stream.detach()[rows].clone().requires_grad_()
    leaves.append(leaf)
    return torch.index_copy(stream.detach(), 0, rows, leaf)
