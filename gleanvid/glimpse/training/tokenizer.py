"""The built-in model's own tokenizer: lower-cased byte-level BPE with Qwen's special tokens.

A word is the same token everywhere, even as the first word of an answer. So a word has the same
embedding in questions and in answers. Training can then make the visual tokens of a red object
similar to the embedding of "red".
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
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

from gleanvid.glimpse.questions.questions import questions, vocabulary
from gleanvid.glimpse.world.scenes import sample_scene

PAD, START, END = "<|endoftext|>", "<|im_start|>", "<|im_end|>"
VISION_START, VISION_END = "<|vision_start|>", "<|vision_end|>"
IMAGE, VIDEO = "<|image_pad|>", "<|video_pad|>"
SPECIALS = (PAD, START, END, VISION_START, VISION_END, IMAGE, VIDEO)
VOCABULARY_SIZE = 512
_SCENES = 400  # number of scenes of the train split whose questions and answers train the tokenizer
_MORE_TEXT = ("system", "user", "assistant", "you are a helpful assistant.", "which is it? answer:")


def build_tokenizer() -> PreTrainedTokenizerFast:
    """Train the tokenizer on Glimpse questions and answers; deterministic, takes about a second."""
    tokenizer = Tokenizer(models.BPE())
    tokenizer.normalizer = normalizers.Lowercase()
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=True)
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=VOCABULARY_SIZE,
        special_tokens=[AddedToken(token, special=True, normalized=False) for token in SPECIALS],
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    tokenizer.train_from_iterator(_sentences(), trainer)
    return PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        padding_side="left",
        pad_token=PAD,
        eos_token=END,
        additional_special_tokens=[START, VISION_START, VISION_END, IMAGE, VIDEO],
        clean_up_tokenization_spaces=False,
    )


def _sentences() -> Iterator[str]:
    for index in range(_SCENES):
        scene = sample_scene(0, "train", index)
        for question in questions(scene, np.random.default_rng(index)):
            yield from (question.text, *question.options)
    for tenth in range(0, 400, 3):
        yield f"<{tenth / 10:.1f} seconds>"
    yield from vocabulary() * 60
    yield from _MORE_TEXT * 20
