"""MiniCPM-V 4.6: every frame between image marks, on the language model of Qwen3.5.

Yao et al., "MiniCPM-V", 2024, arXiv:2408.01800, and the model's own page. A token is 4x4 patches
of a frame (2x2 in mode "4x"); the tower merges blocks of 2x2 in the middle of its layers. As the
authors advise for videos, frames are not cut into slices and not numbered in the prompt, which has
no frame times either. Most layers are recurrent: only compressors before the language model work.

Two videos of a prompt look like one if there is no word between them, nor the numbers that the
processor writes unless ``use_image_id=False``.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import partial
from typing import Any, ClassVar

from gleanvid.models.base import ModelAdapter
from gleanvid.models.families.announced import runs_of
from gleanvid.models.geometry import blocks_to_tokens
from gleanvid.models.hooks import Layout
from gleanvid.models.hooks.layout import Grid
from gleanvid.types import ModelError, Video


class MiniCPMV(ModelAdapter):
    model_types: ClassVar[tuple[str, ...]] = ("minicpmv4_6",)

    @classmethod
    def layout_of(cls, hf_model: Any) -> Layout:
        core, config = hf_model.model, hf_model.config
        if config.merger_times != 1:
            raise ModelError(f"merger_times={config.merger_times} is not supported, only 1.")
        side = 2 if config.downsample_mode == "4x" else 4
        return Layout(
            core=core,
            language_model=core.language_model,
            video_token_id=config.video_token_id,
            grids=partial(_grids, config.video_token_id, side),
            vision_attention=core.vision_tower.encoder.layers[-1].self_attn,
            # A token is a block of 2x2 outputs of the tower.
            patches_to_tokens=partial(blocks_to_tokens, 2),
            tower=core.vision_tower,
            split=_by_frame,
            joined=1,
            recurrent=True,
            ahead_only="layers of this language model keep a recurrent state",
        )

    def processor_options(self, video: Video, max_pixels: int | None) -> dict[str, Any]:
        return super().processor_options(video, max_pixels) | {
            "max_slice_nums": 1,
            "stack_frames": 1,
            "use_image_id": False,
            "downsample_mode": self.hf_model.config.downsample_mode,
            "scale_resolution": self._side(video, max_pixels),
        }

    def _side(self, video: Video, max_pixels: int | None) -> int:
        """Return ``scale_resolution``: side of a square with about a resized frame's area.

        Raises ``ModelError`` if all frames together exceed ``max_pixels`` at their smallest size.
        """
        processor = self.processor.video_processor
        if max_pixels is None:
            return processor.scale_resolution
        mode, pixels = self.hf_model.config.downsample_mode, 0
        for side in range(math.isqrt(max_pixels // len(video)) + processor.patch_size, 0, -1):
            height, width = processor.find_best_resize(
                video.frames.shape[1:3], side, processor.patch_size, True, mode
            )
            pixels = height * width * len(video)
            if pixels <= max_pixels:
                return side
        raise ModelError(
            f"max_pixels={max_pixels} is too small for this clip, which takes at least "
            f"{pixels} pixels: use fewer frames or a higher max_pixels."
        )


def _grids(token: int, side: int, inputs: Mapping[str, Any]) -> list[Grid]:
    """Return the grids of all videos: a run of placeholders is a frame.

    Between two frames of a video are two marks and nothing else. If prompts are repeated for beams
    or several answers, the sizes of the frames are those of one copy.
    """
    sizes, ids = inputs.get("target_sizes_videos"), inputs.get("input_ids")
    if sizes is None or ids is None:
        return []
    prompts = ids.tolist()
    runs = [runs_of(prompt, token) for prompt in prompts]
    repeats = max(1, sum(map(len, runs)) // len(sizes))
    frames = iter([(rows // side, columns // side) for rows, columns in sizes.tolist()])
    grids: list[Grid] = []
    for prompt, places in zip(prompts[::repeats], runs[::repeats], strict=True):
        if len({prompt[start - 1] for start, _ in places}) > 1:
            raise ModelError(
                "Frames that are cut into slices cannot be compressed: call the processor with "
                "max_slice_nums=1."
            )
        end = None
        for (start, stop), size in zip(places, frames, strict=False):
            if end is not None and start - end == 2 and grids[-1][1:] == size:
                grids[-1] = (grids[-1][0] + 1, *size)
            else:
                grids.append((1, *size))
            end = stop
    return grids


def _by_frame(inputs: Mapping[str, Any], limit: int) -> list[dict[str, Any]]:
    """Split the pixels of a clip at frame boundaries into parts of at most ``limit`` values.

    Pixels are [1, C, p, N], all p x p patches side by side. A part has at least one frame.
    """
    (name, pixels), *_ = inputs.items()
    sizes = inputs["target_sizes"]
    widths = (sizes.prod(1) * pixels.shape[2]).tolist()
    parts, start, first = [], 0, 0
    while first < len(widths):
        last, stop = first + 1, start + widths[first]
        while last < len(widths) and pixels[..., start : stop + widths[last]].numel() <= limit:
            stop += widths[last]
            last += 1
        own = {name: pixels[..., start:stop], "target_sizes": sizes[first:last]}
        parts.append({**inputs, **own})
        start, first = stop, last
    return parts
