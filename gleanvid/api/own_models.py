"""Compression and token relevance for a transformers model that the caller loaded."""

from __future__ import annotations

import threading
from contextlib import AbstractContextManager
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import torch

from gleanvid import models
from gleanvid.api.arguments import Clip, as_clip
from gleanvid.attribution.measure import PASSES, check_way, measure_prompt
from gleanvid.attribution.prompt import AnsweredPrompt, find_single_video
from gleanvid.attribution.relevance import Relevance
from gleanvid.compressors import as_compressor
from gleanvid.compressors.base import Compressor
from gleanvid.models import hooks
from gleanvid.models.base import ModelAdapter
from gleanvid.models.families import family_of
from gleanvid.models.hooks.interrupt import interruptible
from gleanvid.models.hooks.prefill import Prefill

if TYPE_CHECKING:
    from torch import Tensor


def compressing(
    hf_model: Any,
    compressor: Compressor | str | None = "gleanvid",
    *,
    strict: bool = True,
    processor: Any = None,
) -> AbstractContextManager[Prefill]:
    """Compress every video prompt that your own ``hf_model`` reads while the block runs.

    All hooks are removed afterwards. Compiled models run uncompiled in the block. A later turn of a
    chat may pass the whole conversation with the same cache, in this block or another one.

    Args:
        hf_model: a model of transformers, of a family in ``MODELS``.
        compressor: a compressor or its name; None drops no token.
        strict: whether to raise an error if the model read pixels but no video was compressed.
        processor: the model's processor or tokenizer, by which InternVL and SmolVLM tell frames
            from images. None: the tokenizer that is stored on this machine with the weights.

    Returns:
        A context manager. Its value describes the latest prefill: ``compression`` is the record of
        one prompt with one video; ``compressions`` has a list of records for each prompt; and
        ``prompt_keep`` the columns of ``input_ids`` that are left of each prompt, int64.

    Raises:
        ModelError: a family that is not in ``MODELS``; nothing was compressed; or, after the block,
            its cache is used without another block.
        ValueError: in the block, for arguments that do not work with compression: chunked prefill,
            assisted decoding, a new video in a later turn, or ``logits_to_keep`` of dropped tokens.

    >>> model, video = load_model(), read_video("assets/clips/glimpse_1.mp4", num_frames=4)
    >>> text = model.chat_text(video, "What is there?", ())
    >>> inputs = model.processor(text=[text], **processor_kwargs(model, video))
    >>> with compressing(model.hf_model, GleanVID(0.1)) as record:
    ...     output = model.hf_model.generate(**inputs, max_new_tokens=4)
    >>> record.compression.num_kept
    20
    """
    return models.compressing(hf_model, as_compressor(compressor), strict, processor)


def processor_kwargs(
    model: Any, video: Clip, *, processor: Any = None, max_pixels: int | None = None
) -> dict[str, Any]:
    """Return what your own processor takes besides text, so that its tokens are those of `ask`.

    That is the frames with their times, no sampling of frames, and the bounds on their pixels.
    Without the times, processors assume 24 frames a second, and some write that into the prompt.

    Args:
        model: a model from :func:`load_model`, or one of transformers together with ``processor``.
        video: see :func:`ask`; a file is read with 32 frames.
        processor: the processor of your own model.
        max_pixels: bound on the pixels of all frames together; None: the processor's own.

    Raises:
        ModelError: a family that is not in ``MODELS``, or ``max_pixels`` is too small.
        TypeError: a model of transformers without a processor.

    >>> model, video = load_model(), read_video("assets/clips/glimpse_1.mp4", num_frames=4)
    >>> text = model.chat_text(video, "What is there?", ())
    >>> inputs = model.processor(text=[text], **processor_kwargs(model, video))
    >>> inputs["video_grid_thw"].tolist()
    [[2, 20, 20]]
    """
    clip = as_clip(video)
    if isinstance(model, ModelAdapter):
        return model.processor_options(clip, max_pixels)
    if processor is None:
        raise TypeError(f"{type(model).__name__} needs its processor: pass processor=processor")
    hf_model, _ = models.with_layout(model, processor)
    family = family_of(hf_model.config, type(hf_model).__name__)
    return family(type(hf_model).__name__, hf_model, processor).processor_options(clip, max_pixels)


def relevance_of(
    hf_model: Any,
    answer: Tensor | None = None,
    by: str = "gradient",
    *,
    tokenizer: Any = None,
    words: bool = False,
    passes: int = PASSES,
    max_new_tokens: int = 64,
    stop: threading.Event | None = None,
    **inputs: Any,
) -> Relevance:
    """Measure how much an answer of your own ``hf_model`` depends on each visual token.

    The measurement is that of :func:`relevance`, for inputs that your own processor made. All hooks
    are removed afterwards.

    Args:
        hf_model: a model of transformers, of a family in ``MODELS``.
        answer: token ids int64 [S] that follow the prompt, with the end token; None takes the
            model's own greedy answer with all tokens.
        by: "gradient", "occlusion" or "attention".
        tokenizer: turns the answer into text for the result; None leaves its text empty.
        words: with "gradient" and a tokenizer, whether to also return a map for every word.
        passes: with "occlusion", maximum number of forward passes with hidden tokens.
        max_new_tokens: longest answer of the model's own, in tokens.
        stop: once set, ends the work before the next layer of the model is computed.
        inputs: keywords of ``hf_model`` for one prompt with one video.

    Returns:
        The relevance of every token; its ``question`` is empty.

    Raises:
        ValueError: a setting out of its range.
        ModelError: a family that is not in ``MODELS``, a batch or several videos, a model inside
            ``compressing``, or one that this method cannot measure.
        StoppedError: ``stop`` was set.

    >>> model, video = load_model(), read_video("assets/clips/glimpse_1.mp4", num_frames=4)
    >>> text = model.chat_text(video, "What is there?", ())
    >>> inputs = model.processor(text=[text], **processor_kwargs(model, video))
    >>> relevance_of(model.hf_model, **inputs).grid
    (2, 10, 10)
    """
    check_way(by, words, passes)
    if words and tokenizer is None:
        raise ValueError("words=True needs the argument tokenizer")
    hf_model, layout = models.with_layout(hf_model, tokenizer)
    if "input_ids" not in inputs:
        raise ValueError(
            "inputs must contain input_ids: pass the processor's output as **processor(...)"
        )
    hooks.check_uncompressed(hf_model)
    find_single_video(layout, inputs)
    with torch.no_grad(), interruptible(hf_model, stop):
        _, vision, _ = hooks.capture_vision(layout, inputs)
        if answer is None:
            with hooks.remembered_vision(layout, vision):
                whole = hf_model.generate(**inputs, do_sample=False, max_new_tokens=max_new_tokens)
            answer = whole[0, inputs["input_ids"].shape[1] :]
    prompt = AnsweredPrompt.extending(hf_model, layout, inputs, answer, vision)
    reader = tokenizer if words else None
    found = measure_prompt(prompt, by, tokenizer=reader, passes=passes, stop=stop)
    text = tokenizer.decode(answer, skip_special_tokens=True) if tokenizer else ""
    return replace(found, answer=text.strip())
