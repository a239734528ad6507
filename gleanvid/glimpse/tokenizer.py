"""The built-in model's own tokenizer: lower-cased byte-level BPE with Qwen's special tokens."""

from __future__ import annotations

from tokenizers import (
    AddedToken,
    Tokenizer,
    decoders,
    models,
    normalizers,
    pre_tokenizers,
    trainers,
)
from transformers import PreTrainedTokenizerFast

from gleanvid.glimpse.questions import vocabulary

PAD, START, END = "<|endoftext|>", "<|im_start|>", "<|im_end|>"
VISION_START, VISION_END = "<|vision_start|>", "<|vision_end|>"
IMAGE, VIDEO = "<|image_pad|>", "<|video_pad|>"
SPECIALS = (PAD, START, END, VISION_START, VISION_END, IMAGE, VIDEO)
VOCABULARY_SIZE = 512
_MORE_TEXT = ("system", "user", "assistant", "you are a helpful assistant.", "which is it? answer:")


def build_tokenizer() -> PreTrainedTokenizerFast:
    """Train the tokenizer on the world's own sentences; deterministic, about a second."""
    tokenizer = Tokenizer(models.BPE())
    tokenizer.normalizer = normalizers.Lowercase()
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=VOCABULARY_SIZE,
        special_tokens=[AddedToken(token, special=True, normalized=False) for token in SPECIALS],
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    times = [f"<{tenth / 10:.1f} seconds>" for tenth in range(0, 400, 3)]
    tokenizer.train_from_iterator([*vocabulary(), *times, *_MORE_TEXT * 20], trainer)
    return PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        padding_side="left",
        pad_token=PAD,
        eos_token=END,
        additional_special_tokens=[START, VISION_START, VISION_END, IMAGE, VIDEO],
        clean_up_tokenization_spaces=False,
    )
