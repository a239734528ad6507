"""Compress inside the language model: from a chosen layer on, fewer tokens are processed.

A compression stage before a layer shortens the hidden states. Attention mask and rotary table are
made once, for the prompt that entered layer 0; after a stage they are cut to the tokens that are
left. The cache of layer 0 keeps its full length: generate() and the making of masks rely on it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from typing import Any

import torch
from torch import Tensor, nn

from gleanvid.compressors.base import Compressor
from gleanvid.models.hooks.attention import attention_to, watching
from gleanvid.models.hooks.decoding import passed_cache
from gleanvid.models.hooks.masks import narrowed_mask
from gleanvid.models.hooks.prefill import Prefill, Rows
from gleanvid.models.hooks.sequence import (
    Plan,
    Span,
    plan_prompt,
    reduce_packed,
    reduce_rows,
    text_columns,
)
from gleanvid.models.measure import now
from gleanvid.types import Compression, VideoTokens


class LayerHooks:
    """Hooks that compress the hidden states inside the language model.

    ``stages``: layer (1 or later) -> compressor that acts before it. :meth:`begin` starts a prompt.
    """

    def __init__(self, stages: dict[int, Compressor], prefill: Prefill) -> None:
        self.stages, self.prefill = stages, prefill
        self.reset()

    def reset(self) -> None:
        """Forget the current prompt."""
        self.prefilling = False
        self._plans: dict[int, Plan] = {}  # layer of a stage -> the tokens left after it
        self._steps: list[tuple[Plan, list[list[Span]], Rows]] = []
        # (prompt of the batch, video) -> attention [1, R, V] of R text tokens to its V tokens
        self._attention: dict[tuple[int, int], Tensor] = {}
        # Plan, mask and rotary tables that the previous layer got, and the arguments cut from them.
        self._cut: tuple[Any, ...] = ()

    @property
    def plans(self) -> dict[int, Plan]:
        """Layer of a stage -> the tokens of the current prompt left after it."""
        return self._plans

    def resume(self, plans: dict[int, Plan], entered: Tensor) -> None:
        """Continue an earlier prompt, given its ``plans`` and its ``entered`` int64 [B, P]."""
        self.prefilling = False
        self._plans, self.entered = plans, entered

    def begin(self, spans: list[list[Span]], present: Tensor, previous: Rows | None) -> None:
        """Prepare for the batch of prompts that is about to enter layer 0.

        Args:
            spans: the videos of every prompt.
            present: bool [B, P], False on padding.
            previous: the compression records of the stage before the language model, by prompt and
                video; None without such a stage.
        """
        self.reset()
        self.prefilling = True
        self._spans, self._present, self._previous = spans, present, previous
        # int64 [B, P]: place of each token among those that enter layer 0
        self.entered = torch.arange(present.shape[1], device=present.device).expand_as(present)

    @contextmanager
    def installed(self, language_model: Any) -> Iterator[None]:
        """Install all hooks on ``language_model``; they are removed even after an exception."""
        with ExitStack() as stack:
            for index in range(min(self.stages, default=0), len(language_model.layers)):
                hook = partial(self._before_layer, index)
                layer = language_model.layers[index]
                stack.enter_context(layer.register_forward_pre_hook(hook, with_kwargs=True))
            for index, stage in self.stages.items():
                if stage.queries:
                    module = language_model.layers[index - 1].self_attn
                    stack.enter_context(watching(module, partial(self._watch, stage)))
            if hasattr(language_model, "_deepstack_process"):
                original = language_model._deepstack_process
                language_model._deepstack_process = partial(self._deepstack, original)
                stack.callback(delattr, language_model, "_deepstack_process")
            yield

    def _before_layer(
        self, index: int, module: nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> tuple[tuple[Any, ...], dict[str, Any]] | None:
        stage = max(layer for layer in self.stages if layer <= index)
        hidden = args[0]
        if self.prefilling and index == stage:
            hidden = self._reduce(stage, hidden)
        plan = self._plans.get(stage)
        if plan is None:
            return None
        # Without position_ids: transformers reads gaps in them as borders of packed sequences.
        changed = kwargs | {"position_ids": None} | self._shorter(plan, kwargs)
        return (hidden, *args[1:]), changed

    def _shorter(self, plan: Plan, kwargs: dict[str, Any]) -> dict[str, Any]:
        """Cut mask and rotary tables to the tokens of ``plan``, once for layers that share them."""
        mask, tables = kwargs.get("attention_mask"), kwargs.get("position_embeddings")
        if self._cut:
            made_for, made = self._cut[:-1], self._cut[-1]
            if all(a is b for a, b in zip(made_for, (plan, mask, tables), strict=True)):
                return made
        static = getattr(passed_cache(kwargs), "is_compileable", False)
        entered = self.entered.shape[1]
        shorter: dict[str, Any] = {
            "attention_mask": narrowed_mask(mask, plan, entered, self.prefilling, static)
        }
        if self.prefilling and tables is not None:
            shorter["position_embeddings"] = tuple(_cut_table(table, plan) for table in tables)
        self._cut = (plan, mask, tables, shorter)
        return shorter

    def _reduce(self, layer: int, hidden: Tensor) -> Tensor:
        start = now(hidden.device)
        stage = self.stages[layer]
        records: Rows = [
            [self._compress(stage, hidden, row, number) for number in range(len(videos))]
            for row, videos in enumerate(self._spans)
        ]
        plan = plan_prompt(self._present, self._spans, records)
        hidden = reduce_rows(hidden, plan, self._spans, records)
        before = list(self._plans.values())[-1].index if self._plans else self.entered
        index = before.gather(1, plan.index)
        self._plans[layer] = Plan(index, plan.mask, plan.spans, plan.lengths)
        self._steps.append((plan, self._spans, records))
        self._spans, self._present, self._previous = plan.spans, plan.mask, records
        self._attention.clear()
        self.prefill.stages[layer] = records
        self.prefill.compress_s += now(hidden.device) - start
        return hidden

    def _compress(self, stage: Compressor, hidden: Tensor, row: int, number: int) -> Compression:
        span = self._spans[row][number]
        text = None
        if "text" in stage.needs:
            columns = text_columns(self._present[row], self._spans[row], span)
            text = hidden[row, columns.to(hidden.device)]
        tokens = VideoTokens(
            hidden[row, span.columns.to(hidden.device)],
            span.grid,
            text=text,
            attention=self._attention.get((row, number)),
            positions=None if span.positions is None else span.positions.to(hidden.device),
            previous=self._previous[row][number] if self._previous else None,
        )
        return stage.compress(tokens)

    def _watch(self, stage: Compressor, query: Tensor, key: Tensor, kwargs: dict[str, Any]) -> None:
        """Store this layer's attention from text to video tokens, which the next stage reads."""
        if not self.prefilling:
            return
        for row, videos in enumerate(self._spans):
            # This layer and the padding mask may be on different devices.
            present = self._present[row].to(query.device)
            for number, span in enumerate(videos):
                asking = text_columns(self._present[row], videos, span).to(query.device)
                asking = asking[-1:] if stage.queries == "last" else asking
                columns, scaling = span.columns.to(query.device), kwargs.get("scaling")
                self._attention[row, number] = attention_to(
                    query[row], key[row], scaling, asking, present, columns, stage.over_heads
                )

    def _deepstack(
        self, original: Callable[..., Tensor], hidden: Tensor, visual: Tensor, level: Tensor
    ) -> Tensor:
        """Add the features ``level`` (DeepStack) to the visual tokens that earlier stages kept."""
        for plan, spans, records in self._steps:
            visual = visual.to(plan.index.device)
            (level,), visual = reduce_packed([level], visual, plan, spans, records)
        return original(hidden, visual, level)


def _cut_table(table: Tensor, plan: Plan) -> Tensor:
    """Return the rotary cosines or sines [..., B, P, d] of the tokens of ``plan``."""
    count, device = len(plan.index), table.device
    table = table.expand(*table.shape[:-3], count, *table.shape[-2:])
    rows = torch.arange(count, device=device)[:, None]
    return table[..., rows, plan.index.to(device), :]
