"""One class per model family, which says only what differs from the others.

What is generic is here or in :mod:`gleanvid.models.boundary`.
"""

from __future__ import annotations

import threading
from abc import ABC, abstractmethod
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import torch
from torch import Tensor

from gleanvid.compressors.base import Chain, Compressor
from gleanvid.models import boundary
from gleanvid.models.boundary.interrupt import interruptible
from gleanvid.models.measure import (
    explaining_out_of_memory,
    now,
    peak_memory_mib,
    reset_peak_memory,
)
from gleanvid.models.prompt import literal, split_after
from gleanvid.models.sampling import generation_config, seeded
from gleanvid.models.streaming import StopOnEvent, TimedStreamer
from gleanvid.types import Compression, ModelError, StoppedError, Video, VideoTokens

History = Sequence[tuple[str, str]]  # (question, answer) of earlier turns about the same video


@dataclass(frozen=True, eq=False)
class Encoded:
    """One video through a model's vision side, ready for any question and any compressor.

    ``tokens.features`` [L, D] are what the language model receives; ``tokens.seconds`` [T, 2];
    ``tokens.rectangles`` [N, 4] pixels of the source. ``encode_s``: processor, vision tower,
    projector.
    """

    video: Video
    tokens: VideoTokens
    encode_s: float
    prefix: str = field(repr=False)  # the prompt up to and including the video placeholder
    inputs: Mapping[str, Any] = field(repr=False)  # model inputs of the prefix, pixels emptied
    vision: Any = field(repr=False)  # output of the vision side


@dataclass(frozen=True, eq=False)
class Answer:
    """What the model said and what it took. ``by_layer`` is on the CPU; seconds are synchronised.

    ``prefill_s`` runs from the question to the first token without ``compress_s``; ``generate_s``
    from the first token to the last. ``peak_memory_mib``: device memory on CUDA, else the whole
    process.
    """

    text: str
    by_layer: dict[int, Compression]
    prompt_tokens: int
    prompt_tokens_kept: int  # entering layer 0
    compress_s: float
    prefill_s: float
    generate_s: float
    new_tokens: int
    peak_memory_mib: float


class ModelAdapter(ABC):
    """A loaded model with its processor; ``lock`` serialises it, for hooks are per module."""

    model_types: ClassVar[tuple[str, ...]]  # config.model_type values
    pixel_input: ClassVar[str] = "pixel_values_videos"

    def __init__(self, name: str, hf_model: Any, processor: Any) -> None:
        self.name, self.hf_model, self.processor = name, hf_model, processor
        self.lock = threading.RLock()
        self.clips: OrderedDict[Any, Encoded] = OrderedDict()  # recent ones, by pipeline.encode
        self.layout = self.layout_of(hf_model)

    @classmethod
    @abstractmethod
    def layout_of(cls, hf_model: Any) -> boundary.Layout:
        """Where the parts of ``hf_model`` are."""

    @abstractmethod
    def build_inputs(self, video: Video, text: str, max_pixels: int | None) -> Mapping[str, Any]:
        """The processor's tensors for ``text``, in which one video placeholder stands."""

    @abstractmethod
    def place_tokens(
        self, video: Video, inputs: Mapping[str, Any]
    ) -> tuple[tuple[int, int, int], Tensor, Tensor]:
        """Grid (T, rows, columns), seconds [T, 2] and rectangles [N, 4] of the tokens."""

    @property
    def device(self) -> torch.device:
        return self.hf_model.device

    @property
    def text_config(self) -> Any:
        """Architecture numbers of the language model."""
        return self.hf_model.config.get_text_config()

    @torch.no_grad()
    def encode(
        self,
        video: Video,
        needs: frozenset[str] = frozenset(),
        *,
        max_pixels: int | None = None,
        stop: threading.Event | None = None,
    ) -> Encoded:
        """Run the vision side once; ``needs`` names signals to compute ("saliency", "keys").

        ``max_pixels`` bounds the pixels of all frames together after resizing (None: what the
        checkpoint's own processor allows). Raises ``ModelError`` where memory runs out and
        ``StoppedError`` once ``stop`` is set.
        """
        advice = "Use fewer frames, a lower max_pixels, or a smaller model."
        with self.lock, explaining_out_of_memory(advice), interruptible(self.hf_model, stop):
            start = now(self.device)
            prefix, _ = split_after(self._render(video, "", ()), self._video_token)
            inputs = dict(self.build_inputs(video, prefix, max_pixels))
            inputs = {
                name: value.to(self.device) if isinstance(value, Tensor) else value
                for name, value in inputs.items()
            }
            features, vision, signals = boundary.capture_vision(self.layout, inputs, needs)
            grid, seconds, rectangles = self.place_tokens(video, inputs)
            shape = inputs[self.pixel_input].shape  # says the grid, see Layout.grids
            inputs[self.pixel_input] = features.new_empty((*shape[:-1], 0))
            tokens = VideoTokens(
                features,
                grid,
                seconds,
                rectangles,
                saliency=signals.get("saliency"),
                keys=signals.get("keys"),
            )
            return Encoded(video, tokens, now(self.device) - start, prefix, inputs, vision)

    @torch.no_grad()
    def generate(
        self,
        encoded: Encoded,
        question: str,
        compressor: Compressor | Chain | None,
        *,
        max_new_tokens: int = 64,
        on_text: Callable[[str], None] | None = None,
        stop: threading.Event | None = None,
        temperature: float = 0.0,
        top_p: float = 1.0,
        seed: int | None = None,
        history: History = (),
    ) -> Answer:
        """Answer ``question`` about an encoded video.

        ``on_text`` gets the answer in pieces as it is written; ``stop``, once set, ends it within
        a layer: with what is written, or with ``StoppedError`` ahead of the first token. The answer
        is never longer than the checkpoint states, if it does. ``temperature`` 0 is greedy. Raises
        ``ModelError`` where memory runs out.
        """
        advice = "Use fewer frames, a lower retention_ratio, or a smaller model."
        streamer = TimedStreamer(self.processor.tokenizer, on_text, self.device)
        with (
            self.lock,
            explaining_out_of_memory(advice),
            interruptible(self.hf_model, stop),
            seeded(seed, self.device),
            boundary.remembered_vision(self.layout, encoded.vision),
            boundary.compressing(
                self.hf_model, self.layout, compressor, _signals(encoded.tokens)
            ) as record,
        ):
            reset_peak_memory(self.device)
            start = now(self.device)
            inputs = self._with_question(encoded, question, history)
            try:
                self.hf_model.generate(
                    **inputs,
                    generation_config=generation_config(
                        self._answer_limit(max_new_tokens), temperature, top_p
                    ),
                    streamer=streamer,
                    stopping_criteria=[StopOnEvent(stop)] if stop is not None else None,
                )
            except StoppedError:
                if not streamer.new_ids:
                    raise
            peak = peak_memory_mib(self.device)
        prompt = inputs["input_ids"].shape[1]
        new_ids = streamer.new_ids
        text = self.processor.tokenizer.decode(new_ids, skip_special_tokens=True).strip()
        return Answer(
            text,
            {layer: rows[0][0].to("cpu") for layer, rows in record.stages.items()},
            prompt,
            record.prompt_tokens_kept[0] if record.prompt_tokens_kept else prompt,
            record.compress_s,
            streamer.first_s - start - record.compress_s,
            streamer.last_s - streamer.first_s,
            len(new_ids),
            peak,
        )

    def _answer_limit(self, asked: int) -> int:
        """``asked`` new tokens, or fewer where the checkpoint states how long its answers get."""
        stated = self.hf_model.generation_config.max_new_tokens
        return asked if stated is None else min(asked, stated)

    @property
    def _video_token(self) -> str:
        return self.processor.video_token

    def introduction(self, video: Video) -> str:
        """What the prompt says between the video and the first question."""
        return ""

    def _render(self, video: Video, question: str, history: History) -> str:
        """The chat prompt as text, the video in its first turn."""
        turns = [*history, (question, None)]
        messages = []
        for number, (asked, answered) in enumerate(turns):
            content = [{"type": "text", "text": literal(asked, self.processor.tokenizer)}]
            if number == 0:
                content[0]["text"] = self.introduction(video) + content[0]["text"]
                content.insert(0, {"type": "video"})
            messages.append({"role": "user", "content": content})
            if answered is not None:
                said = {"type": "text", "text": literal(answered, self.processor.tokenizer)}
                messages.append({"role": "assistant", "content": [said]})
        return self.processor.apply_chat_template(
            messages, add_generation_prompt=True, tokenize=False
        )

    def _with_question(self, encoded: Encoded, question: str, history: History) -> dict[str, Any]:
        """The inputs of the encoded prefix with the rest of the prompt behind it.

        The prefix ends in a special token, so the rest can be tokenised behind that alone.
        """
        prefix, rest = split_after(
            self._render(encoded.video, question, history), self._video_token
        )
        if prefix != encoded.prefix:
            raise ModelError("the chat template changes the text ahead of the video by question")
        made = self.processor.tokenizer(
            self._video_token + rest, add_special_tokens=False, return_tensors="pt"
        )
        tail = made["input_ids"][:, 1:].to(self.device)
        inputs = dict(encoded.inputs)
        inputs["input_ids"] = torch.cat([inputs["input_ids"], tail], 1)
        inputs["attention_mask"] = torch.ones_like(inputs["input_ids"])
        if "mm_token_type_ids" in inputs:
            kinds = inputs["mm_token_type_ids"]
            text = torch.zeros_like(tail, dtype=kinds.dtype)
            inputs["mm_token_type_ids"] = torch.cat([kinds, text], 1)
        return inputs


def _signals(tokens: VideoTokens) -> dict[str, Tensor]:
    named = {"saliency": tokens.saliency, "keys": tokens.keys}
    return {name: rows for name, rows in named.items() if rows is not None}
