"""LLaVA-Video for transformers, which has no class for it: model and processor.

Zhang et al., "Video Instruction Tuning with Synthetic Data", 2024, arXiv:2410.02713, and the
checkpoints lmms-lab/LLaVA-Video-7B-Qwen2 and alike, read in their original format (model type
llava_qwen) too. It is LLaVA-OneVision with another pooling and newlines within the video.
"""

from __future__ import annotations

from math import ceil
from typing import Any

import torch
from torch import Tensor
from torch.nn.functional import avg_pool2d, interpolate
from transformers import (
    AutoConfig,
    AutoModelForImageTextToText,
    AutoProcessor,
    AutoTokenizer,
    LlavaOnevisionForConditionalGeneration,
    LlavaOnevisionImageProcessor,
    LlavaOnevisionModel,
    LlavaOnevisionProcessor,
    LlavaOnevisionVideoProcessor,
)
from transformers.utils import cached_file

from gleanvid.models.llava_video_config import LlavaVideoConfig

_ORIGINAL_NAMES = {  # of tensors
    r"^model\.vision_tower\.vision_tower\.vision_model\.": "model.vision_tower.",
    r"^model\.mm_projector\.0\.": "model.multi_modal_projector.linear_1.",
    r"^model\.mm_projector\.2\.": "model.multi_modal_projector.linear_2.",
    r"^model\.(embed_tokens|layers|norm)\.": r"model.language_model.\1.",
}
_CHAT = (
    "<|im_start|>system\nYou are a helpful assistant.<|im_end|>\n"
    "{% for m in messages %}{{ '<|im_start|>' + m['role'] + '\n' }}{% for c in m['content'] %}"
    "{{ c['text'] if c['type'] == 'text' else '<' + c['type'] + '>\n' }}{% endfor %}"
    "{{ '<|im_end|>\n' }}{% endfor %}"
    "{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif %}"
)


class LlavaVideoModel(LlavaOnevisionModel):
    config_class = LlavaVideoConfig

    def apply_pooling(self, image_features: Tensor) -> Tensor:
        """[T, P, C] -> [T, N, C]."""
        side, stride = round(image_features.shape[1] ** 0.5), self.config.spatial_pool_stride
        square = image_features.unflatten(1, (side, side)).permute(0, 3, 1, 2)
        if self.config.spatial_pool_mode == "average":
            pooled = avg_pool2d(square, stride)
        else:
            pooled = interpolate(square, size=[ceil(side / stride)] * 2, mode="bilinear")
        return pooled.permute(0, 2, 3, 1).flatten(1, 2)

    def get_video_features(self, pixel_values_videos: Tensor, **kwargs: Any) -> Any:
        output = super().get_video_features(pixel_values_videos, **kwargs)
        count, frames = pixel_values_videos.shape[:2]
        rows = output.pooler_output  # [B, T*N, D], in transformers 5.23 with one row more
        side = int((rows.shape[1] / frames) ** 0.5)
        rows = rows[:, : frames * side * side]
        lines = lines_of(self.config.newline_position, (frames, side, side))
        if lines:
            rows = rows.unflatten(1, (lines, -1))
            newline = self.image_newline.to(rows).expand(count, lines, 1, -1)
            rows = torch.cat([rows, newline], 2).flatten(1, 2)
        output.pooler_output = rows
        return output

    def forward(
        self,
        input_ids: Any = None,
        pixel_values_videos: Tensor | None = None,
        inputs_embeds: Tensor | None = None,
        mm_encoder_outputs: dict[str, Any] | None = None,
        **kwargs: Any,
    ) -> Any:
        """Puts the video in place itself, for the parent of transformers 5.17 adds a newline."""
        encoded = dict(mm_encoder_outputs or {})
        video = encoded.pop("video", None)
        if video is None and pixel_values_videos is not None:
            video = self.get_video_features(pixel_values_videos, return_dict=True)
        if inputs_embeds is None:
            inputs_embeds = self.get_input_embeddings()(input_ids)
        if video is not None:
            rows = video.pooler_output.flatten(0, 1).to(inputs_embeds)
            _, places = self.get_placeholder_mask(input_ids, inputs_embeds, video_features=rows)
            inputs_embeds = inputs_embeds.masked_scatter(places, rows)
        if encoded:
            kwargs["mm_encoder_outputs"] = encoded
        return super().forward(inputs_embeds=inputs_embeds, **kwargs)


class LlavaVideoForConditionalGeneration(LlavaOnevisionForConditionalGeneration):
    config_class = LlavaVideoConfig

    def __init__(self, config: LlavaVideoConfig) -> None:
        super(LlavaOnevisionForConditionalGeneration, self).__init__(config)
        self.model = LlavaVideoModel(config)
        text: Any = config.text_config
        self.lm_head = torch.nn.Linear(text.hidden_size, text.vocab_size, bias=False)
        self.post_init()

    @classmethod
    def from_pretrained(cls, *args: Any, **kwargs: Any) -> Any:
        return super().from_pretrained(*args, **{"key_mapping": _ORIGINAL_NAMES} | kwargs)


class LlavaVideoProcessor(LlavaOnevisionProcessor):
    """Writes as many placeholders as the model has rows: ``video_side`` tokens a side, newlines."""

    def __init__(  # transformers reads the parts from this signature
        self,
        image_processor: Any = None,
        tokenizer: Any = None,
        video_processor: Any = None,
        num_image_tokens: int = 729,
        vision_feature_select_strategy: str = "full",
        chat_template: str | None = None,
        video_side: int = 14,
        newline_position: str = "grid",
        **kwargs: Any,
    ) -> None:
        self.video_side, self.newline_position = video_side, newline_position
        super().__init__(
            image_processor,
            tokenizer,
            video_processor,
            num_image_tokens,
            vision_feature_select_strategy,
            chat_template,
            **kwargs,
        )

    def replace_video_token(self, video_inputs: dict, video_idx: int, **kwargs: Any) -> str:
        frames, side = len(video_inputs["pixel_values_videos"][video_idx]), self.video_side
        lines = lines_of(self.newline_position, (frames, side, side))
        return self.video_token * (frames * side * side + lines)

    @classmethod
    def from_pretrained(  # type: ignore[override]
        cls, pretrained_model_name_or_path: Any, **kwargs: Any
    ) -> Any:
        """Original checkpoints hold a tokenizer alone."""
        path, name = pretrained_model_name_or_path, "processor_config.json"
        there: Any = {key: kwargs[key] for key in ("local_files_only", "revision") if key in kwargs}
        if cached_file(path, name, _raise_exceptions_for_missing_entries=False, **there):
            return super().from_pretrained(path, **kwargs)
        tokenizer = AutoTokenizer.from_pretrained(path, **kwargs)
        tokenizer.add_tokens(["<image>", "<video>"], special_tokens=True)
        vision = AutoConfig.from_pretrained(path, **kwargs).vision_config
        side = {"height": vision.image_size, "width": vision.image_size}
        look: Any = {"size": side, "image_mean": [0.5] * 3, "image_std": [0.5] * 3}
        return cls(
            image_processor=LlavaOnevisionImageProcessor(**look),
            tokenizer=tokenizer,
            video_processor=LlavaOnevisionVideoProcessor(**look),
            num_image_tokens=(vision.image_size // vision.patch_size) ** 2,
            chat_template=_CHAT,
        )


def lines_of(newline_position: str, grid: tuple[int, int, int]) -> int:
    """How many lines, each closed by a newline, the tokens of a video stand in; 0 for none."""
    lines = {"grid": grid[0] * grid[1], "frame": grid[0], "one_token": 1, "no_token": 0}
    return lines[newline_position]


# transformers looks these up by the type of the configuration
AutoModelForImageTextToText.register(
    LlavaVideoConfig, LlavaVideoForConditionalGeneration, exist_ok=True
)
AutoProcessor.register(LlavaVideoConfig, LlavaVideoProcessor, exist_ok=True)
