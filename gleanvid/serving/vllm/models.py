"""Subclasses of vLLM's models that prune videos and images by a method of GleanVID.

Kept tokens have the positions that they would have without pruning. Only vLLM imports this module.
Each class behaves as vLLM's own if the server runs no method of GleanVID.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from time import perf_counter
from typing import Any

import torch
from torch import Tensor
from vllm.model_executor.models import qwen2_5_vl, qwen3_5, qwen3_vl, qwen3_vl_moe
from vllm.multimodal import MULTIMODAL_REGISTRY

from gleanvid.serving.vllm import positions as mrope
from gleanvid.serving.vllm.methods import choose, kept_count
from gleanvid.serving.vllm.positions import Grid, Medium
from gleanvid.serving.vllm.processors import FrameProcessor, GridProcessor
from gleanvid.serving.vllm.records import FIELD, Records
from gleanvid.serving.vllm.start import method_of

_MixedIn: Any = object  # base of mixins; typed Any because they call methods of vLLM's classes


class _Choosing(_MixedIn):
    """Mixin for vLLM's model classes: chooses visual tokens and sets their positions."""

    def __init__(self, *, vllm_config: Any, prefix: str = "") -> None:
        super().__init__(vllm_config=vllm_config, prefix=prefix)
        # True: a video keeps at least as many tokens as one temporal unit has, see ``kept_count``
        self.whole_unit = self.multimodal_config.video_pruning_method == "evs"
        self.method = method_of(self.config)
        self.image_rate = getattr(self.config, "gleanvid_image_rate", 0.0)
        self.records = Records()

    def _token_grid(self, patches: Sequence[int]) -> Grid:
        merge = self.config.vision_config.spatial_merge_size
        return int(patches[0]), int(patches[1]) // merge, int(patches[2]) // merge

    def _parse_and_validate_video_input(self, **kwargs: Any) -> Any:
        return with_digests(super()._parse_and_validate_video_input, kwargs)

    def _parse_and_validate_image_input(self, **kwargs: Any) -> Any:
        return with_digests(super()._parse_and_validate_image_input, kwargs)

    def _keep_video(self, rows: Tensor, grid: Grid, digest: Sequence[int]) -> Tensor:
        """Choose which tokens of a video are kept; return their indices, int64 [K]."""
        count = kept_count(grid, self.video_pruning_rate, whole_unit=self.whole_unit)
        return self._keep(rows, grid, count, digest)

    def _keep(self, rows: Tensor, grid: Grid, count: int, digest: Sequence[int]) -> Tensor:
        """Choose ``count`` tokens of a video or image and add a record of the choice.

        Returns the indices of the tokens, int64 [count]. ``rows`` [L, ...] has the features of each
        token, followed by its DeepStack features. ``digest``: digest of the medium's uuid.
        """
        assert self.method is not None
        features = rows[:, : self.config.vision_config.out_hidden_size]
        start = perf_counter()
        keep = choose(self.method, features, grid, count)
        self.records.add(grid, keep, digest, perf_counter() - start)
        return keep

    def _postprocess_image_embeds_evs(self, image_embeds_split: Any, image_input: Any) -> Any:
        if self.method is None:
            return super()._postprocess_image_embeds_evs(image_embeds_split, image_input)
        patches = image_input["image_grid_thw"].tolist()
        parts = zip(image_embeds_split, patches, digests(image_input, patches), strict=True)
        return tuple(self._shortened_image(*part) for part in parts)

    def _shortened_image(self, rows: Tensor, patches: list[int], digest: Sequence[int]) -> Tensor:
        """Prune an image like a video of one temporal unit, and append the tokens' positions.

        All tokens are kept if images have no pruning rate.
        """
        grid, keep = self._token_grid(patches), torch.arange(len(rows), device=rows.device)
        if self.image_rate:
            count = kept_count(grid, self.image_rate, whole_unit=False)
            keep = self._keep(rows, grid, count, digest)
        return with_positions(rows[keep], mrope.grid_rows(keep, grid))

    def _media(self, tokens: list[int], features: Any) -> Iterator[Medium]:
        """Yield the images and videos of a prompt in the order of the prompt."""
        for feature in sorted(features, key=lambda feature: feature.mm_position.offset):
            start, length = feature.mm_position.offset, feature.mm_position.length
            grid = self._token_grid(feature.data[f"{feature.modality}_grid_thw"].data.tolist())
            extent = mrope.grid_extent(grid)
            if feature.modality == "video":
                extent = self._video_extent(grid, tokens[start : start + length], feature.data)
            yield Medium(start, length, extent)

    def get_mrope_input_positions(self, input_tokens: Any, mm_features: Any) -> Any:
        if self.method is None:
            return super().get_mrope_input_positions(input_tokens, mm_features)
        length, media = len(input_tokens), list(self._media(input_tokens, mm_features))
        positions, following = mrope.around(length, media)
        return positions, following - length

    def recompute_mrope_positions(
        self,
        input_ids: Any,
        multimodal_embeddings: Any,
        mrope_positions: Tensor,
        num_computed_tokens: int,
    ) -> Any:
        if self.method is None:
            return super().recompute_mrope_positions(
                input_ids, multimodal_embeddings, mrope_positions, num_computed_tokens
            )
        tokens = torch.as_tensor(input_ids).cpu()
        media = torch.tensor([self.config.image_token_id, self.config.video_token_id])
        columns = [mrope.from_columns(rows[:, -mrope.CARRIED :]) for rows in multimodal_embeddings]
        positions = mrope.place(
            mrope_positions.cpu(), torch.isin(tokens, media), columns, num_computed_tokens
        )
        delta = int(positions.max()) + 1 - len(tokens)
        rows = [rows[:, : -mrope.CARRIED] for rows in multimodal_embeddings]
        return rows, positions.to(mrope_positions.device), delta


class _ByFrame(_Choosing):
    """Mixin for Qwen3-VL and later, which mix a text time stamp for each frame into a video."""

    def _postprocess_video_embeds_evs(self, video_embeds_split: Any, video_input: Any) -> Any:
        if self.method is None:
            return super()._postprocess_video_embeds_evs(video_embeds_split, video_input)
        patches = video_input["video_grid_thw"].tolist()
        told = (patches, video_input.timestamps, digests(video_input, patches))
        parts = zip(video_embeds_split, *told, strict=True)
        return tuple(self._shortened(*part) for part in parts)

    def _shortened(
        self, rows: Tensor, patches: list[int], timestamps: Any, digest: Sequence[int]
    ) -> Tensor:
        grid = self._token_grid(patches)
        keep = self._keep_video(rows, grid, digest)
        kept = torch.zeros(len(rows), dtype=torch.bool, device=rows.device)
        kept[keep] = True
        return self._create_final_video_embeddings(
            video_embeddings=rows[keep],
            num_tokens_per_frame=kept.view(grid[0], -1).sum(1).tolist(),
            timestamps=timestamps,
            video_grid_thw=patches,
            retention_mask=kept,
        )

    def _get_expanded_positions(self, *args: Any, **kwargs: Any) -> Tensor:
        if self.method is None:
            return super()._get_expanded_positions(*args, **kwargs)
        starts, visual = kwargs["is_vision_start"], kwargs["is_video_embed"]
        keep = kwargs["retention_mask"].nonzero().squeeze(1)
        rows = mrope.frame_rows(visual, starts, keep, self._token_grid(kwargs["video_grid_thw"]))
        return mrope.to_columns(rows, lead=int(starts.nonzero()[0]) + 1)

    def _video_extent(self, grid: Grid, tokens: list[int], data: Any) -> int:
        return mrope.frame_extent(len(tokens) - tokens.count(self.config.video_token_id), grid)


def with_digests(parse: Callable[..., Any], kwargs: dict[str, Any]) -> Any:
    """Parse a model's inputs as vLLM does, and attach the uuid digests that the processor sent."""
    sent = kwargs.pop(FIELD, None)
    made = parse(**kwargs)
    if made is not None:
        made.gleanvid_digests = sent
    return made


def digests(made: Any, media: Sequence[Any]) -> list[list[int]]:
    """Return the digest of each image or video of parsed inputs; empty lists if none were sent."""
    known = getattr(made, "gleanvid_digests", None)
    return [[]] * len(media) if known is None else known.tolist()


def with_positions(rows: Tensor, positions: Tensor) -> Tensor:
    """Append positions [n, 3], encoded as columns, to feature rows [n, D]."""
    return torch.cat([rows, mrope.to_columns(positions).to(rows)], 1)


@MULTIMODAL_REGISTRY.register_processor(
    FrameProcessor,
    info=qwen3_vl.Qwen3VLProcessingInfo,
    dummy_inputs=qwen3_vl.Qwen3VLDummyInputsBuilder,
)
class Qwen3VL(_ByFrame, qwen3_vl.Qwen3VLForConditionalGeneration):
    """vLLM's Qwen3-VL (dense), whose videos a method of GleanVID prunes."""


@MULTIMODAL_REGISTRY.register_processor(
    FrameProcessor,
    info=qwen3_vl_moe.Qwen3VLMoeProcessingInfo,
    dummy_inputs=qwen3_vl.Qwen3VLDummyInputsBuilder,
)
class Qwen3VLMoe(_ByFrame, qwen3_vl_moe.Qwen3VLMoeForConditionalGeneration):
    """vLLM's Qwen3-VL (mixture of experts), whose videos a method of GleanVID prunes."""


@MULTIMODAL_REGISTRY.register_processor(
    FrameProcessor,
    info=qwen3_5.Qwen3_5ProcessingInfo,
    dummy_inputs=qwen3_vl.Qwen3VLDummyInputsBuilder,
)
class Qwen35(_ByFrame, qwen3_5.Qwen3_5ForConditionalGeneration):
    """vLLM's Qwen3.5 (dense), whose videos a method of GleanVID prunes."""


@MULTIMODAL_REGISTRY.register_processor(
    FrameProcessor,
    info=qwen3_5.Qwen3_5MoeProcessingInfo,
    dummy_inputs=qwen3_vl.Qwen3VLDummyInputsBuilder,
)
class Qwen35Moe(_ByFrame, qwen3_5.Qwen3_5MoeForConditionalGeneration):
    """vLLM's Qwen3.5 (mixture of experts), whose videos a method of GleanVID prunes."""


@MULTIMODAL_REGISTRY.register_processor(
    GridProcessor,
    info=qwen2_5_vl.Qwen2_5_VLProcessingInfo,
    dummy_inputs=qwen2_5_vl.Qwen2_5_VLDummyInputsBuilder,
)
class Qwen25VL(_Choosing, qwen2_5_vl.Qwen2_5_VLForConditionalGeneration):
    """vLLM's Qwen2.5-VL, pruned by GleanVID: no text within a video, time positions by seconds."""

    def __init__(self, *, vllm_config: Any, prefix: str = "") -> None:
        super().__init__(vllm_config=vllm_config, prefix=prefix)
        # vLLM keeps at least the tokens of one unit, whatever --video-pruning-method says
        self.whole_unit = True

    def _postprocess_video_embeds_evs(self, video_embeds_split: Any, video_input: Any) -> Any:
        if self.method is None:
            return super()._postprocess_video_embeds_evs(video_embeds_split, video_input)
        shortened, videos = [], video_input["video_grid_thw"].tolist()
        told = (videos, video_input["second_per_grid_ts"].tolist(), digests(video_input, videos))
        for rows, patches, second, digest in zip(video_embeds_split, *told, strict=True):
            grid = self._token_grid(patches)
            keep = self._keep_video(rows, grid, digest)
            per_unit = second * self.config.vision_config.tokens_per_second
            shortened.append(with_positions(rows[keep], mrope.grid_rows(keep, grid, per_unit)))
        return tuple(shortened)

    def _video_extent(self, grid: Grid, tokens: list[int], data: Any) -> int:
        second = data["second_per_grid_ts"].data.item()
        return mrope.grid_extent(grid, second * self.config.vision_config.tokens_per_second)
