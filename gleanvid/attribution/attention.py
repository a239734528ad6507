"""Relevance by attention. It is cheap but known to mislead, and is here for comparison.

Attention to a token is not its contribution to the answer (Jain and Wallace, "Attention is not
Explanation", NAACL 2019).
"""

from __future__ import annotations

from contextlib import ExitStack
from typing import Any

import torch
from torch import Tensor

from gleanvid.attribution.prompt import AnsweredPrompt
from gleanvid.models.hooks.attention import attention_rows, watching
from gleanvid.types import ModelError


@torch.no_grad()
def attention_map(prompt: AnsweredPrompt) -> tuple[Tensor, Tensor]:
    """Return the attention that the answer's tokens pay to each visual token.

    It is averaged over the answer's tokens and over heads, and summed over layers. Recurrent layers
    have no attention and are skipped.

    Args:
        prompt: a prompt followed by its answer.

    Returns:
        Log-probabilities [S] of the answer's tokens, and the relevance of the visual tokens,
        float32 [L].

    Raises:
        ModelError: the model's layers have no attention that can be read.
    """
    length, count = prompt.inputs["input_ids"].shape[1], len(prompt.answer)
    total = torch.zeros(len(prompt.columns))

    def add(query: Tensor, key: Tensor, options: dict[str, Any]) -> None:
        device = query.device
        # Each position predicts the next token, so those that predict the answer begin one earlier.
        asking = torch.arange(length - count - 1, length - 1, device=device)
        seen = torch.arange(length, device=device).expand(count, length)
        window = options.get("sliding_window") or length
        present = seen > asking[:, None] - window
        rows = attention_rows(query[0], key[0], options.get("scaling"), asking, present)
        total.add_(rows[..., prompt.columns.to(device)].mean((0, 1)).cpu())

    layers: Any = prompt.layout.language_model.layers
    with ExitStack() as stack:
        for layer in layers:
            if hasattr(layer, "self_attn"):
                stack.enter_context(watching(layer.self_attn, add))
        each = prompt.log_probabilities()
    if not bool(total.any()):
        raise ModelError("This model's layers have no attention that can be read.")
    return each, total
