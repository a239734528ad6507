"""Forward passes over one clip with and without compression, and references to compare with."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import torch
from torch import Tensor, nn

from gleanvid.compressors.base import Compressor
from gleanvid.compressors.full_tokens import FullTokens
from gleanvid.evaluation.check.reference import (
    compact_positions,
    hook_count,
    kept_columns,
    language_model_calls,
    masked_pass,
    recomputed,
)
from gleanvid.models import hooks
from gleanvid.models.base import ModelAdapter
from gleanvid.models.encoded import Encoded
from gleanvid.types import Compression

QUESTIONS = ("What happens in this video?", "Describe the scene and what changes in it.")
STEPS = 6  # number of decoding steps that are compared
ROWS = 64  # maximum number of prompt tokens whose logits are compared
FLOOR = {torch.float32: 1e-5, torch.float16: 2e-3, torch.bfloat16: 2e-2}
MOST = 0.3  # upper limit of the tolerance: real faults cause larger differences than this


@dataclass(frozen=True)
class Generated:
    """An answer of S + 1 generated tokens, with its logits.

    ``logits`` [S + 1, vocabulary]: those from which each token was chosen. ``steps`` [1, S]: ids of
    all tokens of the answer but the last. ``calls``: the arguments of each call of the language
    model. ``record``: the compression record, None without a compressor.
    """

    logits: Tensor
    steps: Tensor
    calls: list[dict[str, Any]]
    record: Compression | None


class Case:
    """The forward passes that check one compressor on one clip.

    The compressor must prune before the language model. Each pass runs when its result is first
    needed. If a pass fails, only the checks that need it fail.
    """

    def __init__(self, model: ModelAdapter, encoded: Encoded, method: Compressor) -> None:
        self.model, self.encoded, self.method = model, encoded, method
        self.hf_model: Any = model.hf_model
        self.hooks = hook_count(model.hf_model)
        self.inputs = model.prompt(encoded, QUESTIONS[0], ())

    def generated(self, method: Compressor | None) -> Generated:
        """Return the answer of the model's own generate(), compressed by ``method`` if not None."""
        length = self.inputs["input_ids"].shape[1]
        with (
            self.compressing(method) as record,
            hooks.last_logits_only(self.hf_model),
            language_model_calls(self.model) as calls,
        ):
            made = self.hf_model.generate(
                **self.inputs,
                do_sample=False,
                min_new_tokens=STEPS + 1,
                max_new_tokens=STEPS + 1,
                return_dict_in_generate=True,
                output_logits=True,
            )
        first = record.stages[0][0][0] if method else None
        return Generated(torch.cat(made.logits), made.sequences[:, length:-1], calls, first)

    @contextmanager
    def compressing(self, method: Compressor | None) -> Iterator[hooks.Prefill]:
        layout, signals = self.model.layout, self.encoded.signals
        with (
            hooks.remembered_vision(layout, self.encoded.vision),
            hooks.compressing(self.hf_model, layout, method, signals) as record,
        ):
            yield record

    @cached_property
    def plain(self) -> Generated:
        """The model's answer without GleanVID's hooks."""
        return self.generated(None)

    @cached_property
    def whole(self) -> Generated:
        """The model's answer with GleanVID's hooks and all visual tokens kept."""
        return self.generated(FullTokens())

    @cached_property
    def short(self) -> Generated:
        """The model's answer with ``method`` as compressor."""
        return self.generated(self.method)

    @cached_property
    def kept(self) -> Tensor:
        """Whether compression keeps each of the prompt's L tokens, bool [L]."""
        assert self.short.record is not None
        return kept_columns(self.model, self.inputs, [self.short.record])[0]

    @cached_property
    def rows(self) -> Tensor:
        """The kept prompt tokens whose logits are compared: R indices, int64 [R].

        They are indices among the kept tokens, from 0. The last kept token is always included.
        """
        count = int(self.kept.sum())
        return torch.linspace(0, count - 1, min(ROWS, count)).round().long().to(self.kept.device)

    @cached_property
    def rounding(self) -> float:
        """Relative difference of logits that rounding alone causes, without compression.

        Decoding token by token is compared with one pass over prompt and answer.
        """
        every = torch.ones_like(self.kept)
        logits = self.reference(every, self.plain.steps, len(every) - 1 + self._steps)
        return apart(self.plain.logits, logits)

    @property
    def bound(self) -> float:
        """Tolerance: relative differences of logits up to this size are put down to rounding."""
        return min(MOST, max(FLOOR.get(self.hf_model.dtype, 1e-5), 4 * self.rounding))

    @property
    def _steps(self) -> Tensor:
        return torch.arange(STEPS + 1, device=self.kept.device)

    @cached_property
    def expected(self) -> Tensor:
        """Logits of the reference pass, [R + S + 1, vocabulary].

        First come the logits at the R prompt tokens in ``rows``. Then come the logits at the last
        prompt token and at the S decoded tokens.
        """
        last = int(self.kept.sum()) - 1
        rows = torch.cat([self.rows, last + self._steps])
        return self.reference(self.kept, self.short.steps, rows)

    def reference(self, kept: Tensor, steps: Tensor, rows: Tensor) -> Tensor:
        """Return the logits at the tokens ``rows`` if only ``kept`` prompt tokens are visible.

        ``kept`` bool [L]: which prompt tokens attention may read. ``steps`` [1, S]: ids of the
        decoded tokens. ``rows``: indices into the kept prompt tokens plus decoded tokens.
        """
        with self.compressing(None):
            if self.model.layout.recurrent:
                with logits_at(self.hf_model, rows):
                    return recomputed(self.model, self.inputs, kept, steps[0])
            behind = len(kept) + torch.arange(steps.shape[1], device=kept.device)
            columns = torch.cat([torch.nonzero(kept).squeeze(1), behind])[rows]
            with logits_at(self.hf_model, columns):
                return masked_pass(self.hf_model, self.inputs, kept[None], steps)[0]

    def prefill(self, compact: bool = False) -> Tensor:
        """Return the logits at the tokens ``rows`` of the compressed prompt, [R, vocabulary].

        With ``compact``, the kept tokens get wrong positions on purpose.
        """
        wrong = compact_positions(self.model) if compact else nullcontext()
        with self.compressing(self.method), wrong, logits_at(self.hf_model, self.rows):
            return self.hf_model(**self.inputs).logits[0]


@contextmanager
def logits_at(hf_model: Any, rows: Tensor) -> Iterator[None]:
    """While the block runs, compute logits at the sequence positions ``rows`` int64 [R] alone."""

    def cut(module: nn.Module, args: tuple[Any, ...]) -> tuple[Any, ...]:
        return (args[0][..., rows.to(args[0].device), :], *args[1:])

    with hf_model.get_output_embeddings().register_forward_pre_hook(cut):
        yield


def apart(ours: Tensor, theirs: Tensor) -> float:
    """Return the distance of logits from reference logits, relative to the size of the latter.

    Both are [n, vocabulary]. First, each token's mean is subtracted from both. The distance is then
    the root mean square of the difference, divided by that of the reference ``theirs``.
    """
    theirs = theirs.float().to(ours.device)
    spread = theirs - theirs.mean(-1, keepdim=True)
    difference = ours.float() - theirs
    difference = difference - difference.mean(-1, keepdim=True)  # softmax ignores a constant offset
    return float(difference.norm() / spread.norm().clamp_min(torch.finfo(torch.float32).tiny))
