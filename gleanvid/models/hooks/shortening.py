"""The hook before the language model, which shortens every prompt with a video.

In every vision-language model of transformers 5, ``forward`` first builds the embeddings of the
prompt, with the visual features in place. It then makes one call, always by keyword:
``language_model(inputs_embeds=..., position_ids=..., attention_mask=..., ...)``. Embeddings and
positions are final at that call, so the hook removes tokens there.
"""

from __future__ import annotations

import threading
from typing import Any
from weakref import WeakSet

import torch
from torch import Tensor, nn

from gleanvid.compressors.base import Compressor
from gleanvid.models.hooks.arguments import (
    check_prompts,
    expand_positions,
    have_pixels,
    images_alone,
    shortened,
)
from gleanvid.models.hooks.decoding import Prefilled, cached_length, passed_cache
from gleanvid.models.hooks.labels import check_logits, refuse_indices
from gleanvid.models.hooks.layers import LayerHooks
from gleanvid.models.hooks.layout import Layout
from gleanvid.models.hooks.masks import cut_masks, refuse_other_masks
from gleanvid.models.hooks.prefill import Prefill
from gleanvid.models.hooks.sequence import (
    Plan,
    Span,
    find_videos,
    plan_prompt,
    present_columns,
    text_columns,
)
from gleanvid.models.hooks.signals import VisionSignals
from gleanvid.models.hooks.turns import CachedPrompt, cache_of, prompt_in, remember
from gleanvid.models.measure import now
from gleanvid.types import Compression, VideoTokens

Kwargs = dict[str, Any]


class PromptHook:
    """Compress the prompt at prefill; set positions and mask while decoding."""

    def __init__(
        self, layout: Layout, compressor: Compressor | None, layers: LayerHooks, prefill: Prefill
    ) -> None:
        self.layout, self.compressor, self.prefill = layout, compressor, prefill
        self.layers = layers  # stages inside the language model (layer >= 1)
        self.generate_inputs: Kwargs = {}  # arguments of the running generate() call
        self.signals: dict[str, Tensor] = {}  # "saliency", "keys": one row per visual token
        needs = frozenset() if compressor is None else compressor.needs
        self.collector = VisionSignals(layout, needs)
        self.prefilled: Prefilled | None = None
        # Whether later calls continue the prompt; if so, the hook always sets their positions.
        self.goes_on = False
        self.saw_pixels = False
        self.lock = threading.RLock()
        self.caches: WeakSet[Any] = WeakSet()  # those that hold a compressed prompt
        self.logits_to_keep: Any = None  # argument of the running call of the whole model
        self._core_inputs: Kwargs = {}
        self._entering: CachedPrompt | None = None  # the prompt that is about to be prefilled
        self.left: tuple[Plan, int] | None = None  # of the latest prompt, with its length L

    def before_model(self, module: nn.Module, args: tuple[Any, ...], kwargs: Kwargs) -> None:
        """Note pixels; raise ``ValueError`` for indices of logits (:func:`refuse_indices`)."""
        self.saw_pixels |= have_pixels(kwargs)
        self.logits_to_keep = kwargs.get("logits_to_keep")
        refuse_indices(self.logits_to_keep)

    def before_core(self, module: nn.Module, args: tuple[Any, ...], kwargs: Kwargs) -> None:
        """Store the inputs of ``core``, in which the next hook finds token ids and grids."""
        self.saw_pixels |= have_pixels(kwargs)
        self._core_inputs = dict(kwargs)
        if args:
            self._core_inputs["input_ids"] = args[0]

    def before_language_model(
        self, module: nn.Module, args: tuple[Any, ...], kwargs: Kwargs
    ) -> tuple[tuple[Any, ...], Kwargs] | None:
        inputs, self._core_inputs = self._core_inputs, {}
        cache, embeds = passed_cache(kwargs), kwargs.get("inputs_embeds")
        past, self._entering, self.left = cached_length(cache), None, None
        if not inputs or embeds is None:
            return None
        single_step = past > 0 and embeds.shape[1] == 1
        visual = None if single_step else self._visual(inputs)
        if visual is not None and bool(visual.any()):
            if past:
                raise ValueError(
                    "video tokens on top of a filled cache cannot be compressed: chunked prefill, "
                    "assisted decoding and re-sent prompts are not supported; pass only new text, "
                    "or a prompt with a video at once and without the cache"
                )
            shorter = self._prefill(kwargs, visual.to(embeds.device), inputs)
            self._remember(cache)
            self._release(inputs.get("mm_encoder_outputs"), kwargs)
            return (args, shorter)
        if not past:
            self._forget()
            self.collector.forget()
            self._remember(cache)
            return None
        self.layers.prefilling = False
        if not self.goes_on:
            self._resume(cache)
        if self.prefilled is None:
            return None
        window = getattr(self.layout.language_model.config, "sliding_window", None)
        return args, self.prefilled.following(kwargs, past, window)

    def after_language_model(
        self, module: nn.Module, args: tuple[Any, ...], kwargs: Kwargs, output: Any
    ) -> None:
        """Remember the prompt with a cache that the language model made itself."""
        if self._entering is not None:
            self._remember(cache_of(output))

    def _remember(self, cache: Any) -> None:
        if cache is None or self.goes_on:
            return
        remember(cache, self._entering)
        if self._entering is not None:
            self.caches.add(cache)

    def _forget(self) -> None:
        self.prefilled = None
        self.layers.reset()

    def _resume(self, cache: Any) -> None:
        """Take up the prompt that fills ``cache``, which may not be the latest one."""
        prompt = prompt_in(cache)
        if prompt is None:
            return self._forget()
        self.caches.add(cache)
        if self.layers.stages and cached_length(cache) < prompt.mask.shape[1]:
            raise ValueError(
                "a cache that was cropped into its prompt cannot be continued with a method that "
                "drops tokens inside the language model"
            )
        self.prefilled = prompt.prefilled
        self.layers.resume(prompt.plans, prompt.entered)

    def _release(self, encoded: Any, kwargs: Kwargs) -> None:
        """Free the outputs of the vision side, which generate() would hold until its last token."""
        own = self.generate_inputs and "mm_encoder_outputs" not in self.generate_inputs
        if encoded and own and passed_cache(kwargs) is not None:
            encoded.clear()

    def _visual(self, inputs: Kwargs) -> Tensor | None:
        """Return bool [B, L], which tokens are those of videos; None without a video."""
        ids, sources = inputs.get("input_ids"), (inputs, self.generate_inputs)
        has_no_pixels = ids is None and not any(map(have_pixels, sources))
        if images_alone(*sources) or (self.layout.frames is not None and has_no_pixels):
            return None
        return self.layout.visual_columns(ids, inputs.get("inputs_embeds"))

    def _prefill(self, kwargs: Kwargs, visual: Tensor, inputs: Kwargs) -> Kwargs:
        own = {name: value for name, value in inputs.items() if value is not None}
        for given in (own, self.generate_inputs):
            if grids := self.layout.grids(given):
                break
        else:
            raise ValueError(
                "the grids of the videos are unknown: pass the processor's output to the model"
            )
        embeds = kwargs["inputs_embeds"]
        count, length = embeds.shape[:2]
        spans = find_videos(visual, grids, self.layout.sides)
        self.signals |= self.collector.take(grids, given.get("input_ids"))
        present = present_columns(kwargs.get("attention_mask"), count, length, embeds.device)
        positions = expand_positions(kwargs.get("position_ids"), count, length, embeds.device)
        if not self.layout.masked:
            refuse_other_masks(kwargs.get("attention_mask"), present)
        check_prompts(self.layout.core, positions, present, spans)
        records = self._compress(embeds, present, spans)
        plan = plan_prompt(present, spans, records)
        self.prefill.prompt_tokens = present.sum(1).tolist()
        self.prefill.prompt_tokens_kept = list(plan.lengths)
        self.prefill.prompt_keep = [
            row[own] for row, own in zip(plan.index, plan.mask, strict=True)
        ]
        check_logits(self.logits_to_keep, length, self.prefill)
        whole = all(r.num_kept == r.num_tokens and not r.merges for row in records for r in row)
        columns, mask = (None, present) if whole else (plan.index, plan.mask)
        self.layers.begin(spans if whole else plan.spans, mask, self.prefill.stages.get(0))
        sections = positions if positions.ndim == 3 else positions[None]
        kept = torch.stack([plan.gather(one) for one in sections]).view(*positions.shape[:-1], -1)
        following = sections.amax(0).masked_fill(~present, 0).amax(1) + 1
        how: Kwargs = {"positions": kept, "windowed": self.layout.windows}
        self.prefilled = None
        if not whole or self.goes_on:
            rows = len(positions) if positions.ndim == 3 else 0
            self.prefilled = Prefilled(plan.mask, plan.padded, following, rows, **how)
        if not whole or self.layers.stages:
            inside = self.layers.plans, self.layers.entered
            ids = inputs.get("input_ids")
            self._entering = CachedPrompt(self.prefilled, columns, mask, length, *inside, ids)
        if whole:
            return kwargs
        self.left = (plan, length)
        shorter = shortened(kwargs, kept, plan, spans, records)
        static = getattr(passed_cache(kwargs), "is_compileable", False)
        if self.layout.windows and static:
            raise ValueError("the attention windows of this model do not fit into a static cache")
        if self.layout.masked:
            cut = cut_masks(kwargs.get("attention_mask"), plan, length, static)
            shorter["attention_mask"] = shorter["attention_mask"] if cut is None else cut
        return shorter

    def _compress(
        self, embeds: Tensor, present: Tensor, spans: list[list[Span]]
    ) -> list[list[Compression]]:
        """Compress every video separately; return the compression records by prompt and video."""
        start = now(embeds.device)
        self.prefill.clear()
        records = [
            [self._compress_one(embeds[row], present[row], videos, span) for span in videos]
            for row, videos in enumerate(spans)
        ]
        if self.compressor is not None:
            self.prefill.stages[0] = records
        self.prefill.compress_s += now(embeds.device) - start
        return records

    def _compress_one(
        self, embeds: Tensor, present: Tensor, videos: list[Span], span: Span
    ) -> Compression:
        if self.compressor is None:
            every = torch.arange(len(span.columns), device=embeds.device)
            return Compression.pruned(every, span.grid)
        signals: dict[str, Any] = {}
        for name in sorted(self.compressor.needs):
            if name == "text":
                signals[name] = embeds[text_columns(present, videos, span)]
            elif name in self.signals:
                own = self.signals[name][span.offset : span.offset + len(span.columns)]
                signals[name] = own.to(embeds.device)
            else:
                raise ValueError(
                    f"{name} is needed and was not computed: encode(video, needs={{{name!r}}})"
                )
        return self.compressor.compress(VideoTokens(embeds[span.columns], span.grid, **signals))
