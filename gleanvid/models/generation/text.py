"""Split prompt text after the video, and escape special tokens in user text."""

from __future__ import annotations

from typing import Any

from gleanvid.types import ModelError


def split_after(text: str, token: str) -> tuple[str, str]:
    """Cut ``text`` after the first ``token``. Raises ``ModelError`` if it does not occur."""
    head, found, tail = text.partition(token)
    if not found:
        raise ModelError(f"the model's chat template has no place for a video ({token})")
    return head + found, tail


def literal(text: str, tokenizer: Any) -> str:
    """``text`` with every special token broken up, so that it reads as plain text."""
    for token in tokenizer.get_added_vocab():
        if len(token) > 1 and token in text:
            text = text.replace(token, token[0] + " " + token[1:])
    return text
