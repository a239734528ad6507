"""Subclasses of vLLM's processors, which prepare the images and videos of a request.

They add the method to cache keys, count tokens and shorten the placeholders of pruned images. Only
vLLM imports this module. Processors run in the process that answers requests, before the engine.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from contextvars import ContextVar
from dataclasses import replace
from typing import Any

import torch
from prometheus_client import Counter
from vllm.model_executor.models.qwen2_5_vl import Qwen2_5_VLMultiModalProcessor
from vllm.model_executor.models.qwen3_vl import Qwen3VLMultiModalProcessor
from vllm.multimodal.hasher import MultiModalHasher
from vllm.multimodal.inputs import MultiModalBatchedField, MultiModalFieldElem

from gleanvid.serving.vllm.methods import kept_count
from gleanvid.serving.vllm.records import FIELD, digest

VIDEOS = Counter("gleanvid_videos", "Number of videos in requests")
KEPT = Counter("gleanvid_visual_tokens_kept", "Number of video tokens passed to the language model")


_MixedIn: Any = object  # base of the mixin; typed Any because it calls methods of vLLM's classes
# kind of media ("video" or "image") -> uuids of the request that is being processed
_UUIDS: ContextVar[Mapping[str, Sequence[str | None]]] = ContextVar("uuids")


class _Pruning(_MixedIn):
    """Mixin for vLLM's processors: prepares the images and videos that GleanVID prunes."""

    def _rates(self) -> dict[str, float]:
        """Return the pruning rates that GleanVID applies, under the keys "video" and "image"."""
        config = self.info.get_hf_config()
        if getattr(config, "gleanvid", None) is None:
            return {}
        rates = {"video": self.info.ctx.get_mm_config().video_pruning_rate}
        return rates | ({"image": config.gleanvid_image_rate} if config.gleanvid_image_rate else {})

    def _get_mm_hashes(self, inputs: Any) -> Any:
        """Add the method, its settings and the rate to the cache keys of pruned media."""
        hashes = dict(super()._get_mm_hashes(inputs))
        rates, algorithm = self._rates(), self.info.ctx.get_mm_config().mm_hasher_algorithm
        for kind in rates.keys() & hashes:
            told = [kind, self.info.get_hf_config().gleanvid, rates[kind]]
            pruning = json.dumps(told, sort_keys=True)
            hashes[kind] = [
                MultiModalHasher.hash_kwargs(algorithm, mm_hash=one, gleanvid=pruning)
                for one in hashes[kind]
            ]
        return hashes

    def _get_prompt_updates(self, *args: Any, **kwargs: Any) -> Any:
        """Give each image as many placeholders in the prompt as it keeps tokens."""
        updates, rate = super()._get_prompt_updates(*args, **kwargs), self._rates().get("image")
        if rate is None:
            return updates
        return [shorter(one, rate) if one.modality == "image" else one for one in updates]

    def apply(self, inputs: Any, *args: Any, **kwargs: Any) -> Any:
        """Process a prompt as vLLM does, and count its videos and their kept tokens."""
        rates, config = self._rates(), self.info.get_hf_config()
        if not rates:
            return super().apply(inputs, *args, **kwargs)
        uuids = inputs.mm_uuid_items or {}
        before = _UUIDS.set({kind: uuids.get(kind) or () for kind in rates})
        try:
            made = super().apply(inputs, *args, **kwargs)
        finally:
            _UUIDS.reset(before)
        for video in made["mm_placeholders"].get("video", ()):
            tokens = made["prompt_token_ids"][video.offset : video.offset + video.length]
            VIDEOS.inc()
            KEPT.inc(list(tokens).count(config.video_token_id))
        return made

    def _merge_mm_kwargs(self, cache: Any, **given: Any) -> Any:
        """Attach uuid digests to media before vLLM's cache may replace the media by references."""
        new, is_known = given["mm_missing_kwargs"], given["mm_is_cached"]
        for kind, uuids in _UUIDS.get({}).items():
            _name(uuids, new.get(kind, ()), is_known.get(kind, ()))
        return super()._merge_mm_kwargs(cache, **given)

    def _apply_hf_processor(self, *args: Any, **kwargs: Any) -> Any:
        """Attach uuid digests to media; vLLM calls this if its cache of processed media is off."""
        made = super()._apply_hf_processor(*args, **kwargs)
        for kind, uuids in _UUIDS.get({}).items():
            media = made.kwargs.get(kind, ())
            _name(uuids, media, [False] * len(media))
        return made


def _name(uuids: Sequence[str | None], media: Sequence[Any], is_known: Sequence[bool]) -> None:
    """Give each image or video that is not in vLLM's cache the digest of its uuid."""
    every = zip(uuids or [None] * len(is_known), is_known, strict=True)
    for item, uuid in zip(media, [uuid for uuid, known in every if not known], strict=True):
        data = torch.tensor(digest(uuid), dtype=torch.uint8)
        field = MultiModalBatchedField(keep_on_cpu=True)
        item[FIELD] = MultiModalFieldElem(data=data, field=field)


def shorter(update: Any, rate: float) -> Any:
    """Return an image's prompt update, cut to its kept tokens; ``rate``: fraction to drop."""

    def replacement(item: int) -> list[int]:
        tokens = update.replacement(item)
        return tokens[: kept_count((1, 1, len(tokens)), rate, whole_unit=False)]

    return replace(update, replacement=replacement)


class FrameProcessor(_Pruning, Qwen3VLMultiModalProcessor):
    """vLLM's processor of Qwen3-VL and Qwen3.5, which also counts the tokens to keep."""


class GridProcessor(_Pruning, Qwen2_5_VLMultiModalProcessor):
    """vLLM's processor of Qwen2.5-VL, which also counts the tokens to keep."""
