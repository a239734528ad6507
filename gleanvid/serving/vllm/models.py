"""vLLM's own model classes with our choice of video tokens and positions that follow it.

Imported by vLLM alone. Each class behaves as vLLM's if the server runs no method of GleanVID.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
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

_MixedIn: Any = object  # combined with a class of vLLM


class _Choosing(_MixedIn):
    """Mixed into a model class of vLLM: token choice and positions of every family."""

    def __init__(self, *, vllm_config: Any, prefix: str = "") -> None:
        super().__init__(vllm_config=vllm_config, prefix=prefix)
        self.whole_unit = self.multimodal_config.video_pruning_method == "evs"  # see kept_count
        self.method = method_of(self.config)
        self.records = Records()

    def _token_grid(self, patches: Sequence[int]) -> Grid:
        merge = self.config.vision_config.spatial_merge_size
        return int(patches[0]), int(patches[1]) // merge, int(patches[2]) // merge

    def _parse_and_validate_video_input(self, **kwargs: Any) -> Any:
        """Keep the digests of the videos' uuids, which the processor sent, with vLLM's input."""
        digests = kwargs.pop(FIELD, None)
        made = super()._parse_and_validate_video_input(**kwargs)
        if made is not None:
            made.gleanvid_digests = digests
        return made

    def _digests(self, video_input: Any) -> list[list[int]]:
        """Return the digest of every video, empty without one."""
        known = getattr(video_input, "gleanvid_digests", None)
        return [[]] * len(video_input["video_grid_thw"]) if known is None else known.tolist()

    def _keep(self, rows: Tensor, grid: Grid, digest: Sequence[int]) -> Tensor:
        """Choose the tokens of a video: int64 [K]. ``rows``: features, then DeepStack levels."""
        assert self.method is not None
        count = kept_count(grid, self.video_pruning_rate, whole_unit=self.whole_unit)
        features = rows[:, : self.config.vision_config.out_hidden_size]
        start = perf_counter()
        keep = choose(self.method, features, grid, count)
        self.records.add(grid, keep, digest, perf_counter() - start)
        return keep

    def _postprocess_image_embeds_evs(self, image_embeds_split: Any, image_input: Any) -> Any:
        if self.method is None:
            return super()._postprocess_image_embeds_evs(image_embeds_split, image_input)
        grids = image_input["image_grid_thw"].tolist()
        return tuple(
            with_positions(rows, mrope.grid_rows(every(rows), self._token_grid(patches)))
            for rows, patches in zip(image_embeds_split, grids, strict=True)
        )

    def _media(self, tokens: list[int], features: Any) -> Iterator[Medium]:
        """Yield the images and videos of a prompt in order."""
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
    """Qwen3-VL and later: time stamp and marks of every frame are rows of the video."""

    def _postprocess_video_embeds_evs(self, video_embeds_split: Any, video_input: Any) -> Any:
        if self.method is None:
            return super()._postprocess_video_embeds_evs(video_embeds_split, video_input)
        patches = video_input["video_grid_thw"].tolist()
        told = (patches, video_input.timestamps, self._digests(video_input))
        parts = zip(video_embeds_split, *told, strict=True)
        return tuple(self._shortened(*part) for part in parts)

    def _shortened(
        self, rows: Tensor, patches: list[int], timestamps: Any, digest: Sequence[int]
    ) -> Tensor:
        grid = self._token_grid(patches)
        keep = self._keep(rows, grid, digest)
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


def every(rows: Tensor) -> Tensor:
    """Return the index of each row, int64 [n]."""
    return torch.arange(len(rows), device=rows.device)


def with_positions(rows: Tensor, positions: Tensor) -> Tensor:
    """Append positions [n, 3] to rows [n, D]."""
    return torch.cat([rows, mrope.to_columns(positions).to(rows)], 1)


@MULTIMODAL_REGISTRY.register_processor(
    FrameProcessor,
    info=qwen3_vl.Qwen3VLProcessingInfo,
    dummy_inputs=qwen3_vl.Qwen3VLDummyInputsBuilder,
)
class Qwen3VL(_ByFrame, qwen3_vl.Qwen3VLForConditionalGeneration):
    """Qwen3-VL, dense."""


@MULTIMODAL_REGISTRY.register_processor(
    FrameProcessor,
    info=qwen3_vl_moe.Qwen3VLMoeProcessingInfo,
    dummy_inputs=qwen3_vl.Qwen3VLDummyInputsBuilder,
)
class Qwen3VLMoe(_ByFrame, qwen3_vl_moe.Qwen3VLMoeForConditionalGeneration):
    """Qwen3-VL with experts."""


@MULTIMODAL_REGISTRY.register_processor(
    FrameProcessor,
    info=qwen3_5.Qwen3_5ProcessingInfo,
    dummy_inputs=qwen3_vl.Qwen3VLDummyInputsBuilder,
)
class Qwen35(_ByFrame, qwen3_5.Qwen3_5ForConditionalGeneration):
    """Qwen3.5, dense."""


@MULTIMODAL_REGISTRY.register_processor(
    FrameProcessor,
    info=qwen3_5.Qwen3_5MoeProcessingInfo,
    dummy_inputs=qwen3_vl.Qwen3VLDummyInputsBuilder,
)
class Qwen35Moe(_ByFrame, qwen3_5.Qwen3_5MoeForConditionalGeneration):
    """Qwen3.5 with experts."""


@MULTIMODAL_REGISTRY.register_processor(
    GridProcessor,
    info=qwen2_5_vl.Qwen2_5_VLProcessingInfo,
    dummy_inputs=qwen2_5_vl.Qwen2_5_VLDummyInputsBuilder,
)
class Qwen25VL(_Choosing, qwen2_5_vl.Qwen2_5_VLForConditionalGeneration):
    """Qwen2.5-VL: a video is one run of tokens; positions count its time in seconds."""

    def __init__(self, *, vllm_config: Any, prefix: str = "") -> None:
        super().__init__(vllm_config=vllm_config, prefix=prefix)
        self.whole_unit = True  # vLLM counts so whatever --video-pruning-method says

    def _postprocess_video_embeds_evs(self, video_embeds_split: Any, video_input: Any) -> Any:
        if self.method is None:
            return super()._postprocess_video_embeds_evs(video_embeds_split, video_input)
        shortened = []
        seconds = video_input["second_per_grid_ts"].tolist()
        told = (video_input["video_grid_thw"].tolist(), seconds, self._digests(video_input))
        for rows, patches, second, digest in zip(video_embeds_split, *told, strict=True):
            grid = self._token_grid(patches)
            keep = self._keep(rows, grid, digest)
            per_unit = second * self.config.vision_config.tokens_per_second
            shortened.append(with_positions(rows[keep], mrope.grid_rows(keep, grid, per_unit)))
        return tuple(shortened)

    def _video_extent(self, grid: Grid, tokens: list[int], data: Any) -> int:
        second = data["second_per_grid_ts"].data.item()
        return mrope.grid_extent(grid, second * self.config.vision_config.tokens_per_second)
