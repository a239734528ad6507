"""vLLM's processors with a cache key per method, and counters of kept tokens.

Imported by vLLM alone. They run in the process that answers requests, before the engine.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from contextvars import ContextVar
from typing import Any

import torch
from prometheus_client import Counter
from vllm.model_executor.models.qwen2_5_vl import Qwen2_5_VLMultiModalProcessor
from vllm.model_executor.models.qwen3_vl import Qwen3VLMultiModalProcessor
from vllm.multimodal.hasher import MultiModalHasher
from vllm.multimodal.inputs import MultiModalBatchedField, MultiModalFieldElem

from gleanvid.serving.vllm.records import FIELD, digest

VIDEOS = Counter("gleanvid_videos", "Videos in requests")
KEPT = Counter("gleanvid_visual_tokens_kept", "Tokens of videos that went to the language model")


_MixedIn: Any = object  # combined with a class of vLLM
_UUIDS: ContextVar[Sequence[str | None] | None] = ContextVar("uuids", default=None)


class _Telling(_MixedIn):
    """Cache entries per method, and digests of videos; mixed into a processor of vLLM."""

    def _get_mm_hashes(self, inputs: Any) -> Any:
        """Add the method, its settings and the rate to the cache key of every video."""
        hashes = dict(super()._get_mm_hashes(inputs))
        method = getattr(self.info.get_hf_config(), "gleanvid", None)
        if method is not None and "video" in hashes:
            config = self.info.ctx.get_mm_config()
            told = json.dumps([method, config.video_pruning_rate], sort_keys=True)
            hashes["video"] = [
                MultiModalHasher.hash_kwargs(config.mm_hasher_algorithm, mm_hash=one, gleanvid=told)
                for one in hashes["video"]
            ]
        return hashes

    def apply(self, inputs: Any, *args: Any, **kwargs: Any) -> Any:
        """Process a prompt as vLLM does, and count its videos and their kept tokens."""
        config = self.info.get_hf_config()
        if getattr(config, "gleanvid", None) is None:
            return super().apply(inputs, *args, **kwargs)
        before = _UUIDS.set((inputs.mm_uuid_items or {}).get("video") or ())
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
        """Attach digests before vLLM's cache, which may replace the inputs by their address."""
        new, is_known = given["mm_missing_kwargs"], given["mm_is_cached"]
        _name(new.get("video", ()), is_known.get("video", ()))
        return super()._merge_mm_kwargs(cache, **given)

    def _apply_hf_processor(self, *args: Any, **kwargs: Any) -> Any:
        """Attach digests if there is no cache."""
        made = super()._apply_hf_processor(*args, **kwargs)
        videos = made.kwargs.get("video", ())
        _name(videos, [False] * len(videos))
        return made


def _name(videos: Sequence[Any], is_known: Sequence[bool]) -> None:
    """Attach the digest of its uuid to each new video of the current request."""
    uuids = _UUIDS.get()
    if uuids is None:  # vLLM prunes by its own method
        return
    every = zip(uuids or [None] * len(is_known), is_known, strict=True)
    for video, uuid in zip(videos, [uuid for uuid, known in every if not known], strict=True):
        data = torch.tensor(digest(uuid), dtype=torch.uint8)
        field = MultiModalBatchedField(keep_on_cpu=True)
        video[FIELD] = MultiModalFieldElem(data=data, field=field)


class FrameProcessor(_Telling, Qwen3VLMultiModalProcessor):
    """Processor of Qwen3-VL and Qwen3.5."""


class GridProcessor(_Telling, Qwen2_5_VLMultiModalProcessor):
    """Processor of Qwen2.5-VL."""
