"""A tiny random thinker (the part that answers in text) of Qwen3-Omni."""

from pathlib import Path

import transformers as hf

from tests.models.tiny import CHAT, ids_of, save, text_numbers, tiny_tokenizer
from tests.models.tiny_qwen import EXPERTS, ROPE, TOWER3

MARKS = {
    "image_token": "<|image_pad|>",
    "video_token": "<|video_pad|>",
    "audio_token": "<|audio_pad|>",
    "vision_bos_token": "<|vision_start|>",
    "vision_eos_token": "<|vision_end|>",
    "audio_bos_token": "<|audio_start|>",
    "audio_eos_token": "<|audio_end|>",
}
EARS = {
    "num_mel_bins": 16,
    "d_model": 32,
    "encoder_layers": 1,
    "encoder_attention_heads": 4,
    "encoder_ffn_dim": 48,
    "output_dim": 32,
    "downsample_hidden_size": 8,
}


def qwen3_omni(directory: Path) -> None:
    tokenizer = tiny_tokenizer(**MARKS)
    rope = {"head_dim": 8, "rope_parameters": ROPE | {"mrope_interleaved": True}}
    config = hf.Qwen3OmniMoeThinkerConfig(
        text_config=text_numbers(tokenizer) | rope | EXPERTS,
        vision_config=TOWER3 | {"deepstack_visual_indexes": [0, 1, 2]},
        audio_config=EARS,
        position_id_per_seconds=13,
        audio_token_id=tokenizer.convert_tokens_to_ids("<|audio_pad|>"),
        audio_start_token_id=tokenizer.convert_tokens_to_ids("<|audio_start|>"),
        **ids_of(tokenizer),
    )
    processor = hf.Qwen3OmniMoeProcessor(
        image_processor=hf.Qwen2VLImageProcessor(patch_size=16),
        video_processor=hf.Qwen2VLVideoProcessor(
            patch_size=16, size={"shortest_edge": 2**14, "longest_edge": 2**15}
        ),
        feature_extractor=hf.WhisperFeatureExtractor(feature_size=16),
        tokenizer=tokenizer,
        chat_template=CHAT,
    )
    save(hf.Qwen3OmniMoeThinkerForConditionalGeneration(config), processor, directory)
