"""LLaVA-Video: LLaVA-OneVision with time in the prompt and newlines within the video.

Zhang et al., "Video Instruction Tuning with Synthetic Data", 2024, arXiv:2410.02713. The published
evaluation pools 27x27 patches by average to 13x13 tokens: 182 tokens per frame, newlines included.
The configurations of the checkpoints say bilinear pooling to 14x14 tokens: 210 with newlines.
"""

from __future__ import annotations

from typing import Any, ClassVar

import torch
from torch import Tensor
from transformers import AutoModelForImageTextToText, AutoProcessor

from gleanvid.models.families.llava_video.config import LlavaVideoConfig, checked_choice, lines_of
from gleanvid.models.families.llava_video.model import LlavaVideoForConditionalGeneration
from gleanvid.models.families.llava_video.processor import LlavaVideoProcessor
from gleanvid.models.families.square_frames import SquareFrames, Tower, llava_tower
from gleanvid.models.hooks.layout import Grid, no_sides
from gleanvid.types import ModelError, Video

# transformers finds model and processor classes by the class of the configuration
AutoModelForImageTextToText.register(
    LlavaVideoConfig, LlavaVideoForConditionalGeneration, exist_ok=True
)
AutoProcessor.register(LlavaVideoConfig, LlavaVideoProcessor, exist_ok=True)


class LlavaVideo(SquareFrames):
    """Adapter of LLaVA-Video, which has newline tokens, for instance after each row of a frame.

    The setting ``newline_policy`` says which newline tokens compression keeps. "line": those with a
    kept token in their line. "all": all. "none": none. All stay if no visual token is dropped.
    """

    model_types: ClassVar[tuple[str, ...]] = ("llava_video", "llava_qwen")

    def __init__(self, name: str, hf_model: Any, processor: Any, *more: Any) -> None:
        rows = hf_model.get_input_embeddings().num_embeddings
        if processor.video_token_id >= rows:
            raise ModelError(f"{name} has {rows} embeddings, none of them free for video tokens.")
        hf_model.config.image_token_index = processor.image_token_id
        hf_model.config.video_token_index = processor.video_token_id
        super().__init__(name, hf_model, processor, *more)
        self.configure()

    def configure(self, **settings: Any) -> None:
        """Override settings of the checkpoint: names and allowed values are in ``config.CHOICES``.

        Discards all encoded videos. Raises ``ValueError`` for another setting or value.
        """
        config = self.hf_model.config
        for name, value in settings.items():
            setattr(config, name, checked_choice(name, value))
        self.layout = self.layout_of(self.hf_model)
        self.processor.video_side = self.tower_of(self.hf_model).tokens
        self.processor.newline_position = config.newline_position
        self.clips.clear()

    @classmethod
    def tower_of(cls, hf_model: Any) -> Tower:
        stride = hf_model.config.spatial_pool_stride
        return llava_tower(hf_model, hf_model.model.apply_pooling, stride)

    @classmethod
    def sides(cls, config: Any, grid: Grid) -> Tensor:
        total = grid[0] * grid[1] * grid[2]
        lines = lines_of(config.newline_position, grid)
        if not lines:
            return no_sides(grid)
        length, number = total // lines, torch.arange(lines)
        place, first = number * (length + 1) + length, number * length
        belongs = {
            "line": (first, first + length),
            "all": (first * 0, first * 0 + total),
            "none": (first, first),
        }
        return torch.stack([place, *belongs[config.newline_policy]], 1)

    def introduction(self, video: Video) -> str:
        """Return the sentences about frame times that the model was trained with; "" if off."""
        if not self.hf_model.config.time_instruction:
            return ""
        times = ",".join(f"{second:.2f}s" for second in video.timestamps)
        return (
            f"The video lasts for {video.duration:.2f} seconds, and {len(video)} frames are "
            f"uniformly sampled from it. These frames are located at {times}."
            "Please answer the following questions related to this video.\n"
        )
