"""A tiny random Molmo 2; transformers 5.17 does not have this class."""

from pathlib import Path

import transformers as hf

from tests.models.tiny import CHAT, save, text_numbers, tiny_tokenizer

MARKS = (
    "<im_patch>",
    "<im_col>",
    "<im_start>",
    "<low_res_im_start>",
    "<frame_start>",
    "<im_end>",
    "<frame_end>",
    "<im_low>",
)
HEADS = {"hidden_size": 32, "intermediate_size": 48, "num_attention_heads": 4}
SIZE = {"height": 84, "width": 84}


def molmo2(directory: Path) -> None:

    tokenizer = tiny_tokenizer(*MARKS, image_token="<|image|>", video_token="<|video|>")
    ids = {mark: tokenizer.convert_tokens_to_ids(mark) for mark in MARKS}
    heads = HEADS | {"num_key_value_heads": 4, "head_dim": 8}
    config = hf.Molmo2Config(
        text_config=text_numbers(tokenizer) | {"head_dim": 8, "additional_vocab_size": 0},
        vision_config=heads | {"num_hidden_layers": 3, "image_size": [84, 84]},
        adapter_config=heads | {"text_hidden_size": 32, "vision_feature_layer": [1, 0]},
        image_patch_id=ids["<im_patch>"],
        image_start_token_id=ids["<im_start>"],
        image_end_token_id=ids["<im_end>"],
        low_res_image_start_token_id=ids["<low_res_im_start>"],
        frame_start_token_id=ids["<frame_start>"],
        frame_end_token_id=ids["<frame_end>"],
    )
    processor = hf.Molmo2Processor(
        image_processor=hf.Molmo2ImageProcessor(size=SIZE),
        video_processor=hf.Molmo2VideoProcessor(size=SIZE, do_rescale=True, do_normalize=True),
        tokenizer=tokenizer,
        chat_template=CHAT.replace("<|vision_start|><|video_pad|><|vision_end|>", "<|video|>"),
    )
    model = hf.Molmo2ForConditionalGeneration(config)
    # suppress patch tokens, which a random model would generate
    model.generation_config.suppress_tokens = [ids["<im_patch>"]]
    save(model, processor, directory)
