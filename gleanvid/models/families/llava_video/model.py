"""LLaVA-Video's model class for transformers, which has none of its own.

Zhang et al., "Video Instruction Tuning with Synthetic Data", 2024, arXiv:2410.02713.
Checkpoints in the original format (model type llava_qwen), such as lmms-lab/LLaVA-Video-7B-Qwen2,
can be read, too. The model is LLaVA-OneVision with other pooling and newlines within the video.
"""

from __future__ import annotations

from math import ceil
from typing import Any

import torch
from torch import Tensor
from torch.nn.functional import avg_pool2d, interpolate
from transformers import LlavaOnevisionForConditionalGeneration, LlavaOnevisionModel

from gleanvid.models.families.llava_video.config import LlavaVideoConfig, lines_of

_ORIGINAL_NAMES = {  # pattern of a tensor's name in original checkpoints -> its name here
    r"^model\.vision_tower\.vision_tower\.vision_model\.": "model.vision_tower.",
    r"^model\.mm_projector\.0\.": "model.multi_modal_projector.linear_1.",
    r"^model\.mm_projector\.2\.": "model.multi_modal_projector.linear_2.",
    r"^model\.(embed_tokens|layers|norm)\.": r"model.language_model.\1.",
}


class LlavaVideoModel(LlavaOnevisionModel):
    config_class = LlavaVideoConfig

    def apply_pooling(self, image_features: Tensor) -> Tensor:
        """Pool the P patches of each of T frames to N tokens: [T, P, C] to [T, N, C]."""
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
        rows = output.pooler_output  # [B, T*N, D]; transformers 5.23 adds a newline token
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
        """Put the video features in the place of the placeholders, then call LLaVA-OneVision.

        In transformers 5.17, the method of LLaVA-OneVision would add another newline token.
        """
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
