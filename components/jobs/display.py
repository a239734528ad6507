"""Plain values that the page displays: its changes, messages, answers and the status line."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NotRequired, TypedDict

import torch

from gleanvid.errors import OUT_OF_MEMORY, sentence
from gleanvid.plugins import PluginError
from gleanvid.run import Run
from gleanvid.serving.vllm import SCHEME, addresses
from gleanvid.types import Video

from ..viewer.values import Clip
from .engine import Engine
from .failures import FAILURE_LOG
from .local import PHOTOS

Answer = dict[str, Any]  # an answer in the viewer; see :func:`components.tokens.answers.answer`

QUEUE = "Queue"  # name of an entry in the status line; assets/page/parts.js reads it
IN_MENU = 33  # maximum number of characters of a model's name in the menu, to fit on a phone
MIB = 2**20
MINUTE_S = 60
FAR_S = 5  # gap between frames in seconds above which the page states it

UNMEASURED = {  # prefix of a model's name -> why its relevance cannot be measured
    PHOTOS: "“What mattered” cannot be measured: the Photo encoder answers no questions.",
    SCHEME: "“What mattered” needs a model in this process, not on a server.",
}
UNEXPECTED = "Something went wrong while working on this clip. The server's log has the details."


class Message(TypedDict):
    """A line for the user.

    Attributes:
        text: the line.
        kind: "quiet" for information and progress, or "problem".
        version: number of the page's settings that the message is about. The page drops messages
            about earlier settings.
    """

    text: str
    kind: str
    version: NotRequired[int]


@dataclass(frozen=True)
class PageUpdate:
    """Changes of the page. A field that is None changes nothing."""

    notice: Message | None = None
    viewer: Clip | None = None
    answers: list[Answer] | None = None
    runs: list[str] | None = None  # ids of the viewer's runs: on side B, on side A, others
    status: list[tuple[str, str]] | None = None
    pending: str | None = None  # message shown over the viewer; the next ``viewer`` clears it
    stoppable: bool = False  # whether the user can stop the preview
    done: bool = False


def message(text: str = "", kind: str = "quiet") -> Message:
    return {"text": text, "kind": kind}


STOPPED = PageUpdate(message("Stopped."), done=True)


def explain(error: Exception) -> str:
    """Return a sentence about an error for the user.

    Logs every error of a plug-in, and errors that have no message for users.
    """
    text = sentence(error)
    if text == OUT_OF_MEMORY and torch.cuda.is_available():
        torch.cuda.empty_cache()
    if not text or isinstance(error, PluginError):
        FAILURE_LOG.bug(error)
    return text or UNEXPECTED


def used(video: Video, units: int) -> str:
    """Return a sentence on how much of the clip was read, with the notes of the video reader.

    If frames are far apart, it also states the seconds between frames and the frames per token.
    ``units``: number of temporal units.
    """
    frames = f"{len(video)} of {count_of(video.total_frames, 'frame')}"
    said = [f"Used {frames} from {duration_text(video.duration)}."]
    gap = video.duration / len(video)
    if gap >= FAR_S:
        each = round(len(video) / units)
        covers = "" if each < 2 else f"; a token covers {'two' if each == 2 else each} of them"
        said.append(f"One frame every {duration_text(gap)}{covers}.")
    return " ".join([*said, *video.notes])


def count_of(count: int, noun: str) -> str:
    """Format a count: ``1 frame``, ``1,200 frames``."""
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def duration_text(seconds: float) -> str:
    """Format a duration: ``4.0 s``, from one minute on ``1:30`` or ``1:00:00``."""
    if seconds < MINUTE_S:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), MINUTE_S)
    hours, minutes = divmod(minutes, MINUTE_S)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"


def status(engine: Engine, run: Run | None = None) -> list[tuple[str, str]]:
    """Return the entries of the page's status line as (name, text) pairs.

    The model is that of ``run``, or the one used last if there is no run.
    """
    model = engine.models.held.get(run.model) if run else engine.loaded()
    name = run.model if run else model.name if model else ""
    pairs = [("Model", short_name(name) or "none loaded yet")]
    if run is not None:
        record = run.compression
        pairs.append(("Tokens", f"{record.num_kept:,} of {record.num_tokens:,}"))
    return [*pairs, _queue_entry(engine)]


def with_queue(engine: Engine, pairs: Sequence[Sequence[str]]) -> list[tuple[str, str]]:
    """Return the entries of a status line with the present state of the queue."""
    others = [(name, text) for name, text in pairs if name != QUEUE]
    return [*others, _queue_entry(engine)]


def _queue_entry(engine: Engine) -> tuple[str, str]:
    asked = engine.queue.asked()  # number of requests, including the running one
    return QUEUE, f"{asked - 1} waiting" if asked > 1 else "in use" if asked else "idle"


def short_name(name: str) -> str:
    """Return the last part of a model's name; of several vLLM servers, the first and a count.

    >>> short_name("vllm:http://127.0.0.1:8000,http://127.0.0.1:8001")
    '127.0.0.1:8000 and 1 more'
    """
    first, *others = addresses(name) if name.startswith(SCHEME) else [name]
    return Path(first).name + (f" and {len(others)} more" if others else "")


def menu_name(name: str) -> str:
    """Shorten a model's name for the menu to its beginning and end.

    >>> menu_name("vllm:http://127.0.0.1:8000")
    'vLLM at 127.0.0.1:8000'
    >>> menu_name("/data/checkpoints/2026-10/Qwen3-VL-8B-Instruct")
    '/data/check…/Qwen3-VL-8B-Instruct'
    """
    if name.startswith(SCHEME):
        name = f"vLLM at {short_name(name)}"
    return name if len(name) <= IN_MENU else f"{name[:11]}…{name[11 - IN_MENU + 1 :]}"


def unmeasured(model: str) -> str:
    """Return why relevance cannot be measured for this model; empty if it can."""
    return next((why for name, why in UNMEASURED.items() if model.startswith(name)), "")
