"""Relevance of a clip's tokens for an answer, by gradient, occlusion or attention."""

from __future__ import annotations

import sys
import threading
from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from gleanvid.attribution.attention import attention_map
from gleanvid.attribution.gradient import ADVICE, gradient_maps
from gleanvid.attribution.occlusion import occlusion_map
from gleanvid.attribution.prompt import AnsweredPrompt
from gleanvid.attribution.relevance import Relevance, normalised
from gleanvid.models.base import ModelAdapter
from gleanvid.models.encoded import Encoded, History
from gleanvid.models.hooks.interrupt import interruptible
from gleanvid.models.measure import explaining_out_of_memory, now
from gleanvid.types import ModelError

if TYPE_CHECKING:
    from torch import Tensor

WAYS = ("gradient", "occlusion", "attention")
PASSES = 64  # default number of forward passes of "occlusion"


def measure(
    model: ModelAdapter,
    encoded: Encoded,
    question: str,
    answer: str,
    by: str = "gradient",
    *,
    words: bool = False,
    most_words: int = sys.maxsize,
    passes: int = PASSES,
    history: History = (),
    stop: threading.Event | None = None,
) -> Relevance:
    """Measure relevance as :func:`gleanvid.relevance` does, for an encoded clip and its answer.

    With ``words`` the relevance for each word of the answer is measured, too. In an answer of more
    than ``most_words`` words, neighbouring words are measured together.

    Raises ``ValueError`` as :func:`check_way` does, ``ModelError`` if the model does not allow this
    measurement, and ``StoppedError`` once ``stop`` is set.
    """
    check_way(by, words, passes)
    with model.lock:
        prompt = AnsweredPrompt.of(model, encoded, question, answer, history)
        tokenizer = model.processor.tokenizer if words else None
        found = measure_prompt(
            prompt, by, tokenizer=tokenizer, most_words=most_words, passes=passes, stop=stop
        )
    return replace(found, question=question, answer=answer)


def measure_prompt(
    prompt: AnsweredPrompt,
    by: str = "gradient",
    *,
    tokenizer: Any = None,
    most_words: int = sys.maxsize,
    passes: int = PASSES,
    stop: threading.Event | None = None,
) -> Relevance:
    """Measure relevance as :func:`measure` does, for a prompt and answer given as token ids.

    ``tokenizer``: if given, "gradient" also measures relevance for every word of the answer.
    """
    with interruptible(prompt.hf_model, stop), explaining_out_of_memory(ADVICE):
        start = now(prompt.columns.device)
        words = _phrases(tokenizer, prompt.answer, most_words) if tokenizer else []
        if by == "gradient":
            parts = [slice(0, len(prompt.answer)), *(part for _, part in words)]
            each, (values, *rest) = gradient_maps(prompt, parts, stop)
        elif by == "occlusion":
            each, values = occlusion_map(prompt, passes)
        else:
            each, values = attention_map(prompt)
        spelled = zip(words, rest, strict=True) if words else ()
        return Relevance(
            normalised(values),
            prompt.grid,
            "",
            "",
            float(each.sum()),
            by,
            now(prompt.columns.device) - start,
            tuple((word, normalised(own)) for (word, _), own in spelled),
        )


def check_way(by: str, words: bool = False, passes: int = PASSES) -> None:
    """Raise ``ValueError`` if ``by`` is unknown, or cannot measure ``words``, or if passes < 1."""
    if by not in WAYS:
        raise ValueError(f"by={by!r} must be one of {', '.join(WAYS)}")
    if words and by != "gradient":
        raise ValueError(f"words=True needs by='gradient', not {by!r}")
    if passes < 1:
        raise ValueError(f"passes={passes!r} must be at least 1")


def check_model(model: Any) -> None:
    """Raise ``ModelError`` if the model runs outside this process, for example on a server."""
    if hasattr(model, "servers") or not (hasattr(model, "layout") and hasattr(model, "hf_model")):
        raise ModelError(
            f"Relevance needs a model that answers in this process, and {model.name} does not: "
            "load it by its hub id or directory."
        )


def _phrases(tokenizer: Any, answer: Tensor, most: int) -> list[tuple[str, slice]]:
    """Return the words of an answer, each with the slice of its tokens.

    In an answer of more than ``most`` words, ``most`` groups of neighbouring words take their
    place, with nearly the same number of words each.
    """
    words = _words(tokenizer, answer)
    count = len(words)
    if count <= most:
        return words
    ends = [count * place // most for place in range(most + 1)]
    parts = [
        slice(words[first][1].start, words[last - 1][1].stop) for first, last in pairwise(ends)
    ]
    return [(tokenizer.decode(answer[p], skip_special_tokens=True).strip(), p) for p in parts]


def _words(tokenizer: Any, answer: Tensor) -> list[tuple[str, slice]]:
    """Return the words of an answer, each with its slice of tokens, without special tokens."""
    found: list[tuple[str, slice]] = []
    for place, token in enumerate(answer.tolist()):
        piece = tokenizer.decode([token], skip_special_tokens=True)
        if not piece:
            continue
        if found and not piece[0].isspace() and found[-1][1].stop == place:
            word, part = found[-1]
            found[-1] = (word + piece, slice(part.start, place + 1))
        else:
            found.append((piece.strip(), slice(place, place + 1)))
    return [(word, part) for word, part in found if word.strip()]
