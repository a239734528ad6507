"""LLaVA-NeXT-Video (Vicuna): the central square of each frame, as 12x12 tokens.

Zhang et al., "LLaVA-NeXT: A Strong Zero-shot Video Understanding Model", 2024,
https://llava-vl.github.io/blog/2024-04-30-llava-next-video. 24x24 patches are pooled to 12x12
tokens. Features come from the last layer but one of the CLIP tower, without its class token. The
model has no newline tokens.
"""

from __future__ import annotations

from typing import Any, ClassVar

from gleanvid.models.families.square_frames import SquareFrames, Tower, llava_tower
from gleanvid.types import Video


class LlavaNextVideo(SquareFrames):
    model_types: ClassVar[tuple[str, ...]] = ("llava_next_video",)

    @classmethod
    def tower_of(cls, hf_model: Any) -> Tower:
        stride = hf_model.config.spatial_pool_stride
        return llava_tower(hf_model, hf_model.model.vision_resampler, stride)

    def view(self, video: Video) -> tuple[float, float, float, float]:
        """Return left, top, right, bottom in px of what the model sees: mostly a central square."""
        processor = self.processor.video_processor
        if not processor.do_center_crop:
            return super().view(video)
        height, width = video.frames.shape[1:3]
        side = processor.crop_size["height"] / processor.size["shortest_edge"] * min(height, width)
        scale = video.source_size[1] / width, video.source_size[0] / height
        left, top = max(0.0, (width - side) / 2), max(0.0, (height - side) / 2)
        right, bottom = min(width, left + side), min(height, top + side)
        return left * scale[0], top * scale[1], right * scale[0], bottom * scale[1]
