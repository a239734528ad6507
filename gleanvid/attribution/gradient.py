"""Relevance by one backward pass from the answer to the visual tokens."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import TYPE_CHECKING

import torch

from gleanvid.attribution.prompt import AnsweredPrompt
from gleanvid.models import hooks
from gleanvid.models.measure import explaining_out_of_memory
from gleanvid.types import ModelError

if TYPE_CHECKING:
    from torch import Tensor

ADVICE = "A backward pass needs more memory than an answer: use fewer frames, or by='occlusion'"
# factors by which the log-probability is multiplied in float16, tried in this order
_FACTORS = (2.0**16, 2.0**12, 2.0**8, 2.0**4, 1.0)


def gradient_maps(
    prompt: AnsweredPrompt, parts: Sequence[slice], stop: threading.Event | None = None
) -> tuple[Tensor, list[Tensor]]:
    """Measure the relevance of every visual token for parts of the answer.

    Visual tokens enter the model as one or more sets of vectors: the tokens themselves, and
    DeepStack features if the model has any. Relevance is |gradient . (vector - mean of the set)|,
    summed over these sets.

    Args:
        prompt: a prompt followed by its answer.
        parts: slices of the answer's tokens; the log-probability of each slice is differentiated.
        stop: once set, ends the backward pass within one layer.

    Returns:
        Log-probabilities [S] of the answer's tokens, and for each part the relevance of the visual
        tokens, float32 [L].

    Raises:
        ModelError: no gradient reaches the tokens of this model, or memory runs out.
        StoppedError: ``stop`` was set.
    """
    with (
        explaining_out_of_memory(ADVICE),
        torch.inference_mode(False),
        torch.enable_grad(),
        hooks.weights_without_gradient(prompt.hf_model),
        hooks.recomputed_layers(prompt.layout, stop),
        hooks.visual_leaves(prompt.layout, prompt.columns) as leaves,
    ):
        each = prompt.log_probabilities()
        maps = []
        for number, part in enumerate(parts, 1):
            try:
                found = _gradients(each[part].sum(), leaves, number < len(parts))
            except NotImplementedError as error:
                raise ModelError(_refusal(error)) from error
            except RuntimeError as error:
                if "memory" in str(error).lower():
                    raise
                raise ModelError(_refusal(error)) from error
            maps.append(_relevance(leaves, found))
        return each.detach(), maps


def _gradients(total: Tensor, leaves: Sequence[Tensor], again: bool) -> list[Tensor | None]:
    """Return the float32 gradient of ``total`` with respect to each of ``leaves``.

    It is None for a leaf that ``total`` does not depend on. In float16, gradients of a confident
    answer can underflow, so ``total`` is multiplied by the largest of ``_FACTORS`` at which none
    overflows, and the gradients are divided by it. ``again``: another backward pass will follow.
    """
    factors = _FACTORS if leaves[0].dtype == torch.float16 else (1.0,)
    for number, factor in enumerate(factors, 1):
        keep = again or number < len(factors)
        found = torch.autograd.grad(total * factor, leaves, retain_graph=keep, allow_unused=True)
        if all(one is None or bool(one.isfinite().all()) for one in found):
            break
    return [None if one is None else one.float() / factor for one in found]


def _relevance(leaves: Sequence[Tensor], gradients: Sequence[Tensor | None]) -> Tensor:
    total = torch.zeros(len(leaves[0]))
    for leaf, gradient in zip(leaves, gradients, strict=True):
        if gradient is not None:
            rows = leaf.detach().float()
            total += (gradient * (rows - rows.mean(0))).sum(1).abs().cpu()
    if not bool(total.isfinite().all()):
        raise ModelError(
            _refusal("the gradient is not finite; load the model in bfloat16 or float32")
        )
    return total


def _refusal(reason: object) -> str:
    return (
        f"The gradient of this model's visual tokens cannot be computed ({reason}). "
        "Use by='occlusion', which needs no gradient."
    )
