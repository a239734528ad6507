from pathlib import Path

import transformers as hf

from tests.models.tiny import CHAT, save, text_numbers, tiny_tokenizer
from tests.models.tiny_qwen import LINEAR, ROPE

MARKS = {
    "image_token": "<|image_pad|>",
    "video_token": "<|video_pad|>",
    "image_start_token": "<image>",
    "image_end_token": "</image>",
    "slice_start_token": "<slice>",
    "slice_end_token": "</slice>",
    "image_id_start_token": "<image_id>",
    "image_id_end_token": "</image_id>",
}
TOWER = {
    "hidden_size": 32,
    "intermediate_size": 48,
    "num_hidden_layers": 3,
    "num_attention_heads": 4,
    "patch_size": 4,
    "image_size": 64,
}


def minicpmv(directory: Path) -> None:
    tokenizer = tiny_tokenizer(**MARKS)
    rope = {"head_dim": 16, "rope_parameters": ROPE | {"partial_rotary_factor": 0.5}}
    config = hf.MiniCPMV4_6Config(
        text_config=text_numbers(tokenizer) | LINEAR | rope | {"model_type": "qwen3_5_text"},
        vision_config=TOWER,
        insert_layer_id=0,
        image_token_id=tokenizer.convert_tokens_to_ids("<|image_pad|>"),
        video_token_id=tokenizer.convert_tokens_to_ids("<|video_pad|>"),
    )
    sizes = {"patch_size": 4, "scale_resolution": 64}
    processor = hf.MiniCPMV4_6Processor(
        image_processor=hf.MiniCPMV4_6ImageProcessor(**sizes),
        video_processor=hf.MiniCPMV4_6VideoProcessor(**sizes),
        tokenizer=tokenizer,
        chat_template=CHAT.replace("<|vision_start|><|video_pad|><|vision_end|>", "<|video_pad|>"),
    )
    save(hf.MiniCPMV4_6ForConditionalGeneration(config), processor, directory)
