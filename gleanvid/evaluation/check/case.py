"""Forward passes over one clip with and without compression, and their references."""

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
from gleanvid.models import boundary
from gleanvid.models.base import ModelAdapter
from gleanvid.models.encoded import Encoded
from gleanvid.types import Compression

QUESTIONS = ("What happens in this video?", "Describe the scene and what changes in it.")
STEPS = 6  # number of decoding steps that are compared;
ROWS = 64  # maximum number of prompt columns whose logits are compared
FLOOR = {torch.float32: 1e-5, torch.float16: 2e-3, torch.bfloat16: 2e-2}
MOST = 0.3  # largest bound: real faults cause larger differences than this


@dataclass(frozen=True)
class Generated:
    """One generated answer of S + 1 tokens, with its logits and the calls behind it.

    ``logits`` [S+1, V]: over the vocabulary V; ``steps`` [1, S]: the answer without its last token;
    ``calls``: arguments of all calls of the language model; ``record``: None without a compressor.
    """

    logits: Tensor
    steps: Tensor
    calls: list[dict[str, Any]]
    record: Compression | None


class Case:
    """One clip under one compressor, which prunes before the language model.

    Every forward pass runs when its result is first needed, so if a pass fails, only the checks
    that need it fail.
    """

    def __init__(self, model: ModelAdapter, encoded: Encoded, method: Compressor) -> None:
        self.model, self.encoded, self.method = model, encoded, method
        self.hf_model: Any = model.hf_model
        self.hooks = hook_count(model.hf_model)
        self.inputs = model.prompt(encoded, QUESTIONS[0], ())

    def generated(self, method: Compressor | None) -> Generated:
        """Return the answer of the model's own generate() with ``method`` as compressor."""
        length = self.inputs["input_ids"].shape[1]
        with (
            self.compressing(method) as record,
            boundary.last_logits_only(self.hf_model),
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
    def compressing(self, method: Compressor | None) -> Iterator[boundary.Prefill]:
        layout, signals = self.model.layout, self.encoded.signals
        with (
            boundary.remembered_vision(layout, self.encoded.vision),
            boundary.compressing(self.hf_model, layout, method, signals) as record,
        ):
            yield record

    @cached_property
    def plain(self) -> Generated:
        """The model's answer without GleanVID's hooks."""
        return self.generated(None)

    @cached_property
    def whole(self) -> Generated:
        """The answer with GleanVID's hooks and all tokens kept."""
        return self.generated(FullTokens())

    @cached_property
    def short(self) -> Generated:
        """The answer with ``method`` as compressor."""
        return self.generated(self.method)

    @cached_property
    def kept(self) -> Tensor:
        """Columns of the prompt that are kept by compression, bool [L]."""
        assert self.short.record is not None
        return kept_columns(self.model, self.inputs, [self.short.record])[0]

    @cached_property
    def rows(self) -> Tensor:
        """Indices of the kept columns whose logits are compared, int64 [R].

        An index counts only kept columns, from 0. The last kept column is always included.
        """
        count = int(self.kept.sum())
        return torch.linspace(0, count - 1, min(ROWS, count)).round().long().to(self.kept.device)

    @cached_property
    def rounding(self) -> float:
        """Difference of logits between stepwise decoding and one pass, without compression."""
        every = torch.ones_like(self.kept)
        logits = self.reference(every, self.plain.steps, len(every) - 1 + self._steps)
        return apart(self.plain.logits, logits)

    @property
    def bound(self) -> float:
        """Largest difference of logits that rounding can explain on this machine."""
        return min(MOST, max(FLOOR.get(self.hf_model.dtype, 1e-5), 4 * self.rounding))

    @property
    def _steps(self) -> Tensor:
        return torch.arange(STEPS + 1, device=self.kept.device)

    @cached_property
    def expected(self) -> Tensor:
        """Logits of the reference, [R + S+1, V].

        Those of the R compared columns come first, then those of the last column and of the S
        decoded tokens.
        """
        last = int(self.kept.sum()) - 1
        rows = torch.cat([self.rows, last + self._steps])
        return self.reference(self.kept, self.short.steps, rows)

    def reference(self, kept: Tensor, steps: Tensor, rows: Tensor) -> Tensor:
        """Return the logits of ``rows``, with only the ``kept`` prompt columns visible.

        ``kept`` bool [L]; ``steps`` [1, S]: decoded tokens after the prompt; ``rows`` [R]: indices
        into the kept columns followed by the steps.
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
        """[R, V]: logits of the compared columns in the compressed prompt."""
        wrong = compact_positions(self.model) if compact else nullcontext()
        with self.compressing(self.method), wrong, logits_at(self.hf_model, self.rows):
            return self.hf_model(**self.inputs).logits[0]


@contextmanager
def logits_at(hf_model: Any, rows: Tensor) -> Iterator[None]:
    """Make the output head compute the logits of ``rows`` only while the block runs."""

    def cut(module: nn.Module, args: tuple[Any, ...]) -> tuple[Any, ...]:
        return (args[0][..., rows.to(args[0].device), :], *args[1:])

    handle = hf_model.get_output_embeddings().register_forward_pre_hook(cut)
    try:
        yield
    finally:
        handle.remove()


def apart(ours: Tensor, theirs: Tensor) -> float:
    """Return the distance between two sets of logits; ``theirs`` is the reference.

    The distance is the root mean square of the difference, divided by the root mean square of the
    reference. Before that, each row's mean over the vocabulary is subtracted from both.
    """
    theirs = theirs.float().to(ours.device)
    spread = theirs - theirs.mean(-1, keepdim=True)
    difference = ours.float() - theirs
    difference = difference - difference.mean(-1, keepdim=True)  # softmax ignores a constant offset
    return float(difference.norm() / spread.norm().clamp_min(torch.finfo(torch.float32).tiny))
