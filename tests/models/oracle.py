"""Compressors and inputs for comparisons with ``gleanvid.evaluation.check.reference``."""

from dataclasses import dataclass
from typing import ClassVar

import pytest
import torch
from torch import Tensor

from gleanvid.compressors.base import Compressor
from gleanvid.evaluation.check.reference import kept_columns, masked_pass
from gleanvid.models.families.square_frames import SquareFrames
from gleanvid.types import Compression, Video, VideoTokens
from tests.models.tiny import noise_video

# Number of decoding steps. The first would reveal wrong positions, later ones wrong offsets of
# the key/value cache.
DECODED = 3
QUESTIONS = ["what moves?", "which colour is the video, and what is it that moves in it?"]


@dataclass(frozen=True)
class EveryNth(Compressor):
    """Compressor that keeps irregularly spaced tokens. Only the index decides, not the features."""

    name: ClassVar[str] = "every-nth"
    paper: ClassVar[str] = "test"

    def _compress(self, tokens: VideoTokens) -> Compression:
        keep = torch.arange(len(tokens))
        chosen = keep[(keep * 7 + keep // 3) % round(1 / self.retention_ratio) == 1]
        return Compression.pruned(
            chosen[self.skipped(tokens) :], tokens.grid, None, None, len(keep)
        )

    def skipped(self, tokens: VideoTokens) -> int:
        return 0


@dataclass(frozen=True)
class Tilted(EveryNth):
    """``EveryNth`` without the first token if the clip's second half has a higher mean."""

    def skipped(self, tokens: VideoTokens) -> int:
        first, second = tokens.features.tensor_split(2)
        return int(second.mean() > first.mean())


@dataclass(frozen=True)
class IdentityMerge(Compressor):
    """Compressor that merges each token only with itself, to run the code for merging."""

    name: ClassVar[str] = "identity-merge"
    paper: ClassVar[str] = "test"

    def _compress(self, tokens: VideoTokens) -> Compression:
        every = torch.arange(len(tokens))
        eye = torch.eye(len(tokens)).to_sparse().coalesce()
        return Compression(every, tokens.grid, every, torch.ones(len(tokens)), mixing=eye)


@dataclass(frozen=True)
class PairMean(Compressor):
    """Compressor that replaces tokens 2i and 2i+1 by their mean, at position 2i."""

    name: ClassVar[str] = "pair-mean"
    paper: ClassVar[str] = "test"

    def _compress(self, tokens: VideoTokens) -> Compression:
        every = torch.arange(len(tokens))
        share = torch.full((len(tokens),), 0.5)
        if len(tokens) % 2:
            share[-1] = 1.0
        return Compression(every[::2], tokens.grid, every // 2, share)


@dataclass(frozen=True)
class Failing(Compressor):
    name: ClassVar[str] = "failing"
    paper: ClassVar[str] = "test"

    def _compress(self, tokens: VideoTokens) -> Compression:
        raise RuntimeError("the compressor failed")


def unlike_videos(adapter) -> list[Video]:
    """Return two videos for which the compressor ``Tilted`` keeps different numbers of tokens."""
    if not isinstance(adapter, SquareFrames):
        return [noise_video(5), noise_video(8, 64, 128, seed=1)]
    video = noise_video(4)  # some models require videos of equal length in a batch
    return [video, Video.from_frames(video.frames[::-1].copy(), fps=2.0)]


def model_inputs(adapter, questions, videos=None, **processor_options) -> dict:
    """Return the processor's output for a left-padded batch with one noise video per prompt."""
    videos = videos or [noise_video(seed=number) for number in range(len(questions))]
    rows = [
        dict(adapter.build_inputs(video, adapter.chat_text(video, question, ()), None))
        for video, question in zip(videos, questions, strict=True)
    ]
    width = max(row["input_ids"].shape[1] for row in rows)
    pad = adapter.processor.tokenizer.pad_token_id
    fills = {"input_ids": pad, "attention_mask": 0, "mm_token_type_ids": 0}
    batch = {}
    for name in rows[0]:
        values = [row[name] for row in rows]
        if name in fills:
            values = [
                torch.nn.functional.pad(value, (width - value.shape[1], 0), value=fills[name])
                for value in values
            ]
        joined = torch.is_tensor(values[0])
        # the processor concatenates the frames of all videos
        packed = adapter.layout.joined and name == adapter.pixel_input
        batch[name] = (
            torch.cat(values, -1 if packed else 0)
            if joined
            else [item for value in values for item in value]
        )
    return batch


def generate(adapter, inputs, new=DECODED + 1, **options):
    options = {"do_sample": False, "min_new_tokens": new, "max_new_tokens": new} | options
    return adapter.hf_model.generate(
        **inputs, **options, return_dict_in_generate=True, output_logits=True
    )


def read_while_decoding(output, inputs) -> Tensor:
    """Return the generated token ids that later steps read: all but the last, int64 [B, steps]."""
    steps = output.sequences[:, inputs["input_ids"].shape[1] : -1]
    assert steps.shape[1] == len(output.logits) - 1 > 0
    return steps


def skip_if_repeats_mix(adapter, inputs) -> None:
    """Skip the test for models that fail on copies of a prompt (see ``repeats_mix``)."""
    if repeats_mix(adapter, inputs):
        pytest.skip("the untouched model cannot repeat prompts, or answers each differently")


def repeats_mix(adapter, inputs) -> bool:
    """Whether two copies of a prompt in a batch get different answers or an error.

    The model runs without compression. In transformers 5.17, InternVL mixes up the frames of the
    copies. In 5.23, GLM-4V raises an error.
    """
    if adapter.hf_model.config.model_type not in ("internvl", "glm4v"):
        return False
    try:
        (logits,) = generate(adapter, inputs, 1, do_sample=True, num_return_sequences=2).logits
    except ValueError:
        return True
    return not torch.allclose(logits[::2], logits[1::2], atol=1e-5)


def left_by_layer(adapter, inputs, record, depth) -> list[Tensor]:
    """Return for each layer which of the L prompt tokens it receives, bool [B, L]."""
    layers: list[Tensor] = []
    # index in the batch -> compression record of all stages so far, composed to one
    whole: dict[int, Compression] = {}
    for layer in range(depth):
        for row, made in enumerate(record.stages.get(layer, [])):
            whole[row] = whole[row].then(made[0]) if row in whole else made[0]
        rows = [whole[row] for row in sorted(whole)]
        layers.append(kept_columns(adapter, inputs, rows))
    return layers


@torch.no_grad()
def masked_logits(hf_model, inputs, kept, steps):
    """Return logits of the prompt and of the decoded tokens, with dropped tokens masked.

    ``kept``, bool [B, L]: prompt tokens that attention may read. ``steps`` [B, S]: ids of the
    decoded tokens, which follow the prompt. Returns the logits of the L prompt tokens,
    [B, L, vocabulary], and those from the last prompt token on, [B, S + 1, vocabulary].
    """
    logits = masked_pass(hf_model, inputs, kept, steps)
    length = inputs["input_ids"].shape[1]
    return logits[:, :length], logits[:, length - 1 :]
