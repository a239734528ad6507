"""Base class of model adapters; the subclass of a model family overrides what differs there."""

from __future__ import annotations

import threading
from abc import abstractmethod
from collections.abc import Callable, Mapping
from typing import Any, ClassVar

import torch
from torch import Tensor

from gleanvid.compressors.base import Compressor
from gleanvid.cost import Answer
from gleanvid.models import hooks
from gleanvid.models.chat import ChatPrompts
from gleanvid.models.encoded import Encoded, History
from gleanvid.models.frames import frame_metadata
from gleanvid.models.generation.answering import write_answer
from gleanvid.models.generation.context import Context, check_context, checked_max_pixels
from gleanvid.models.generation.conversation import Conversation
from gleanvid.models.generation.sampling import GREEDY, Sampling
from gleanvid.models.generation.text import split_after
from gleanvid.models.geometry import cells
from gleanvid.models.hooks.interrupt import interruptible
from gleanvid.models.hooks.layout import Grid
from gleanvid.models.measure import ADVICE, explaining_out_of_memory, now
from gleanvid.types import Video, VideoTokens


class ModelAdapter(ChatPrompts):
    """A loaded model and its processor. Hold ``lock`` while you use the model or its hooks."""

    model_types: ClassVar[tuple[str, ...]]  # accepted values of config.model_type
    pixel_input: ClassVar[str] = "pixel_values_videos"
    unread: ClassVar[tuple[str, ...]] = ("video_metadata",)  # tensors that the model does not need

    def __init__(
        self, name: str, hf_model: Any, processor: Any, max_pixels: int | None = None
    ) -> None:
        super().__init__(name, hf_model, processor, checked_max_pixels(max_pixels))
        self.layout = self.layout_with(hf_model, processor)

    @classmethod
    @abstractmethod
    def layout_of(cls, hf_model: Any) -> hooks.Layout:
        """Return the parts of a transformers model that compression needs: modules and settings."""

    @classmethod
    def layout_with(cls, hf_model: Any, processor: Any) -> hooks.Layout:
        """Return :meth:`layout_of`; in some families only a tokenizer tells frames from images.

        ``processor``: a processor or tokenizer; None: the one stored with the model, if needed.
        """
        return cls.layout_of(hf_model)

    def processor_options(self, video: Video, max_pixels: int | None) -> dict[str, Any]:
        """Return what the processor takes besides the text of a prompt with ``video``.

        ``max_pixels``: bound on the pixels of all frames together; None: the processor's own.
        """
        return {
            "videos": [video.frames],
            "video_metadata": [frame_metadata(video)],
            "do_sample_frames": False,
            "return_tensors": "pt",
        }

    def build_inputs(self, video: Video, text: str, max_pixels: int | None) -> Mapping[str, Any]:
        """Return the processor's tensors for ``video`` and ``text`` with one video placeholder."""
        tensors = self.processor(text=[text], **self.processor_options(video, max_pixels))
        return {name: tensors[name] for name in tensors if name not in self.unread}

    def place_tokens(self, video: Video, inputs: Mapping[str, Any]) -> tuple[Grid, Tensor, Tensor]:
        """Return the grid of the visual tokens, and which time and area of the video each shows.

        The grid is (T temporal units, rows, columns). Seconds [T, 2] are the first and last second
        of each unit. Rectangles [N, 4] are those of the N tokens of a unit, in source pixels.
        Unless a family overrides this, each frame is a temporal unit whose tokens tile it.
        """
        grid = self.layout.grids(inputs)[0]
        seconds = torch.as_tensor(video.timestamps)[:, None].expand(-1, 2)
        return grid, seconds, cells(grid[1], grid[2], video.source_size)

    @property
    def device(self) -> torch.device:
        """Device of the model's weights."""
        return self.hf_model.device

    @property
    def num_layers(self) -> int:
        """Number of layers of the language model."""
        return self.text_config.num_hidden_layers

    @property
    def text_config(self) -> Any:
        """Configuration of the language model."""
        return self.hf_model.config.get_text_config()

    @property
    def context(self) -> Context:
        """Context length of the model, and whether tokens that compression drops count too."""
        multimodal = hasattr(self.layout.core, "get_rope_index")
        limit = getattr(self.text_config, "max_position_embeddings", None)
        return Context(self.name, limit, self.num_layers, counts_kept=multimodal)

    @torch.no_grad()
    def encode(
        self,
        video: Video,
        needs: frozenset[str] = frozenset(),
        *,
        max_pixels: int | None = None,
        stop: threading.Event | None = None,
    ) -> Encoded:
        """Run vision tower and projector once, and return their output for any number of questions.

        Args:
            video: the frames.
            needs: vision signals to compute ("saliency", "keys").
            max_pixels: bound on the pixels of all frames together after resizing; None: the bound
                that the model was loaded with, or else that of the checkpoint's own processor.
            stop: once set, ends the work.

        Raises:
            ModelError: ``max_pixels`` is too small, the prompt too long, or memory runs out.
            StoppedError: ``stop`` was set.
        """
        advice = "Use fewer frames, a lower max_pixels, or a smaller model."
        with self.lock, explaining_out_of_memory(advice), interruptible(self.hf_model, stop):
            start = now(self.device)
            prefix, _ = split_after(self.chat_text(video, "", ()), self.video_token)
            limit = self.max_pixels if max_pixels is None else checked_max_pixels(max_pixels)
            inputs = self.without_outro(self.build_inputs(video, prefix, limit))
            # If only kept tokens count, compression may still make a long prompt fit.
            if not self.context.counts_kept:
                check_context(self.context, inputs["input_ids"].shape[1], 0, None)
            inputs = {
                n: x.to(self.device) if isinstance(x, Tensor) else x for n, x in inputs.items()
            }
            features, vision, signals = hooks.capture_vision(self.layout, inputs, needs)
            grid, seconds, rectangles = self.place_tokens(video, inputs)
            shape = inputs[self.pixel_input].shape  # Layout.grids reads the grid from this shape
            inputs[self.pixel_input] = features.new_empty((*shape[:-1], 0))
            saliency, keys = signals.get("saliency"), signals.get("keys")
            tokens = VideoTokens(features, grid, seconds, rectangles, saliency, keys)
            return Encoded(video, tokens, now(self.device) - start, prefix, inputs, vision)

    @torch.no_grad()
    def generate(
        self,
        encoded: Encoded,
        question: str,
        compressor: Compressor | None,
        sampling: Sampling = GREEDY,
        *,
        history: History = (),
        on_text: Callable[[str], None] | None = None,
        stop: threading.Event | None = None,
    ) -> Answer:
        """Answer ``question`` about an encoded video.

        ``history``: (question, answer) pairs of earlier turns. ``on_text`` gets the answer in
        pieces as it is generated. Once ``stop`` is set, generation ends. Raises ``ModelError`` if
        the prompt is too long or memory runs out, and ``StoppedError`` if ``stop`` was set before
        the first token.
        """
        with (
            self.lock,
            explaining_out_of_memory(ADVICE),
            hooks.remembered_vision(self.layout, encoded.vision),
            hooks.compressing(self.hf_model, self.layout, compressor, encoded.signals) as record,
        ):
            inputs = self.prompt(encoded, question, history)
            length = inputs["input_ids"].shape[1]
            check_context(self.context, length, len(encoded.tokens), compressor)
            return write_answer(self, inputs, record, length, sampling, on_text=on_text, stop=stop)

    def conversation(self, encoded: Encoded, compressor: Compressor | None) -> Conversation:
        """Compress and prefill a video once, for many questions; ``compressor`` None drops nothing.

        A compressor that reads the question runs again for each. Raises ``ModelError`` if memory
        runs out.
        """
        return Conversation(self, encoded, compressor)
