"""vLLM's processors, whose caches tell our methods apart, and which count what is kept.

Imported by vLLM alone. They run in the process that answers requests, ahead of the engine.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
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


_MixedIn: Any = object  # a class of vLLM stands behind it


class _Telling(_MixedIn):
    """Mixed into a processor of vLLM."""

    def _get_mm_hashes(self, inputs: Any) -> Any:
        """A video's name in every cache holds the method, its settings and the rate."""
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
        """vLLM's own; the videos of the prompt are counted, and take their uuids along."""
        made = super().apply(inputs, *args, **kwargs)
        config = self.info.get_hf_config()
        if getattr(config, "gleanvid", None) is not None:
            _name(made["mm_kwargs"].get("video", ()), (inputs.mm_uuid_items or {}).get("video"))
            for video in made["mm_placeholders"].get("video", ()):
                tokens = made["prompt_token_ids"][video.offset : video.offset + video.length]
                VIDEOS.inc()
                KEPT.inc(list(tokens).count(config.video_token_id))
        return made


def _name(videos: Sequence[Any], uuids: Sequence[str | None] | None) -> None:
    """Give each video its uuid's digest; one that the engine has already has it there."""
    for video, uuid in zip(videos, uuids or [None] * len(videos), strict=True):
        if video is not None:
            data = torch.tensor(digest(uuid), dtype=torch.uint8)
            field = MultiModalBatchedField(keep_on_cpu=True)
            video[FIELD] = MultiModalFieldElem(data=data, field=field)


class FrameProcessor(_Telling, Qwen3VLMultiModalProcessor):
    """Of Qwen3-VL and Qwen3.5."""


class GridProcessor(_Telling, Qwen2_5_VLMultiModalProcessor):
    """Of Qwen2.5-VL."""
