"""Split a prompt after its video, append text to it, and escape special tokens in user text."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import torch

from gleanvid.types import ModelError

if TYPE_CHECKING:
    from torch import Tensor


def split_after(text: str, token: str) -> tuple[str, str]:
    """Split ``text`` after the first ``token``. Raises ``ModelError`` if it has no ``token``."""
    head, found, tail = text.partition(token)
    if not found:
        raise ModelError(f"the model's chat template has no place for a video ({token})")
    return head + found, tail


def with_text_behind(inputs: Mapping[str, Any], ids: Tensor) -> dict[str, Any]:
    """Append S text tokens to each of B prompts: ``ids`` int64 [B, S] to ``inputs`` [B, L]."""
    longer = dict(inputs)
    for name, columns in (
        ("input_ids", ids),
        ("attention_mask", torch.ones_like(ids)),
        ("mm_token_type_ids", torch.zeros_like(ids)),
    ):
        if name in inputs:
            longer[name] = torch.cat([inputs[name], columns.to(inputs[name])], 1)
    return longer


def literal(text: str, tokenizer: Any) -> str:
    """Break up special tokens in ``text`` with a space, so that it is tokenised as plain text."""
    for token in tokenizer.get_added_vocab():
        if len(token) > 1 and token in text:
            text = text.replace(token, token[0] + " " + token[1:])
    return text
