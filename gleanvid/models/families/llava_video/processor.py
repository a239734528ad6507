"""LLaVA-Video's processor, saved in this package's format or made for an original checkpoint."""

from __future__ import annotations

from typing import Any

from transformers import (
    AutoConfig,
    AutoTokenizer,
    LlavaOnevisionImageProcessor,
    LlavaOnevisionProcessor,
    LlavaOnevisionVideoProcessor,
)
from transformers.utils import cached_file

from gleanvid.models.families.llava_video.config import lines_of

_CHAT = (
    "<|im_start|>system\nYou are a helpful assistant.<|im_end|>\n"
    "{% for m in messages %}{{ '<|im_start|>' + m['role'] + '\n' }}{% for c in m['content'] %}"
    "{{ c['text'] if c['type'] == 'text' else '<' + c['type'] + '>\n' }}{% endfor %}"
    "{{ '<|im_end|>\n' }}{% endfor %}"
    "{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif %}"
)


class LlavaVideoProcessor(LlavaOnevisionProcessor):
    """Processor that writes ``video_side``^2 placeholders per frame, and one per newline token."""

    def __init__(  # transformers finds tokenizer and image processor by parameter name
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

    def replace_video_token(
        self, video_inputs: dict[str, Any], video_idx: int, **kwargs: Any
    ) -> str:
        frames, side = len(video_inputs["pixel_values_videos"][video_idx]), self.video_side
        lines = lines_of(self.newline_position, (frames, side, side))
        return self.video_token * (frames * side * side + lines)

    @classmethod
    def from_pretrained(  # type: ignore[override]
        cls, pretrained_model_name_or_path: Any, **kwargs: Any
    ) -> Any:
        """Load the processor; for original checkpoints, which have only a tokenizer, build it."""
        path, name = pretrained_model_name_or_path, "processor_config.json"
        there: Any = {key: kwargs[key] for key in ("local_files_only", "revision") if key in kwargs}
        if cached_file(path, name, _raise_exceptions_for_missing_entries=False, **there):
            return super().from_pretrained(path, **kwargs)
        tokenizer = AutoTokenizer.from_pretrained(path, **kwargs)
        tokenizer.add_tokens(["<image>", "<video>"], special_tokens=True)
        vision = AutoConfig.from_pretrained(path, **kwargs).vision_config
        side = {"height": vision.image_size, "width": vision.image_size}
        settings: Any = {"size": side, "image_mean": [0.5] * 3, "image_std": [0.5] * 3}
        return cls(
            image_processor=LlavaOnevisionImageProcessor(**settings),
            tokenizer=tokenizer,
            video_processor=LlavaOnevisionVideoProcessor(**settings),
            num_image_tokens=(vision.image_size // vision.patch_size) ** 2,
            chat_template=_CHAT,
        )
