"""Labels and logits of a compressed prompt, which callers count in the uncompressed one."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from torch import Tensor
from torch.nn.functional import pad

from gleanvid.models.hooks.prefill import Prefill
from gleanvid.models.hooks.sequence import Plan


def refuse_indices(logits_to_keep: Any) -> None:
    """Raise ``ValueError`` for indices of logits, which count in the uncompressed prompt."""
    if isinstance(logits_to_keep, Tensor):
        raise ValueError(
            "logits_to_keep as indices counts in the uncompressed prompt: take all logits, and "
            "look the columns up in record.prompt_keep"
        )


def check_logits(logits_to_keep: int | None, length: int, prefill: Prefill) -> None:
    """Raise ``ValueError`` if ``logits_to_keep`` counts tokens that were dropped.

    ``length``: L, tokens of the uncompressed prompts with padding; ``prefill``: what was kept.
    """
    last = logits_to_keep or 0
    kept = (int((row >= length - last).sum()) for row in prefill.prompt_keep)
    if any(
        count < min(last, tokens) for count, tokens in zip(kept, prefill.prompt_tokens, strict=True)
    ):
        raise ValueError(
            f"logits_to_keep={last}: some of the last {last} tokens are dropped; take all "
            "logits, and look the columns up in record.prompt_keep; for generate(), pad left"
        )


def labels_left(left: tuple[Plan, int] | None, labels: Tensor, length: int) -> Tensor:
    """Return the labels of the tokens left, -100 on padding: [B, L] -> [B, P = ``length``].

    ``left``: the plan of the latest prompt, and its length L.
    """
    if left is None or labels.shape[1] != left[1]:
        return labels
    mask = left[0].mask.to(labels.device)
    return left[0].gather(labels).masked_fill(~mask, -100)[:, -length:]


@contextmanager
def translated_labels(hf_model: Any, left: Callable[[Tensor, int], Tensor]) -> Iterator[None]:
    """Let the loss of a compressed prompt use the labels of the tokens that are left.

    ``left`` selects them: labels [B, L] and the length P of the logits -> [B, P].
    """
    original = getattr(hf_model, "loss_function", None)
    if original is None:
        yield
        return

    @functools.wraps(original)
    def loss_function(logits: Tensor, labels: Tensor, *args: Any, **kwargs: Any) -> Any:
        shifted = kwargs.get("shift_labels")
        if shifted is not None:  # the label of a token stands one column before it
            whole = left(pad(shifted, (1, 0), value=-100)[:, :-1], logits.shape[1])
            kwargs["shift_labels"] = pad(whole, (0, 1), value=-100)[:, 1:]
        return original(logits, left(labels, logits.shape[1]), *args, **kwargs)

    before = vars(hf_model).get("_loss_function")
    hf_model.loss_function = loss_function
    try:
        yield
    finally:
        if before is None:
            del hf_model._loss_function
        else:
            hf_model.loss_function = before
