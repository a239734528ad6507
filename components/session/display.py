"""What the page displays, as plain values: messages, answers and the status line."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NotRequired, TypedDict

import psutil
import torch

from gleanvid.cost import Cost
from gleanvid.metrics import same_answer
from gleanvid.run import Run
from gleanvid.serving.vllm import SCHEME
from gleanvid.types import Video

from .examples import Example
from .work.engine import Engine
from .work.local import BUILT_IN

STILL_LOADING = "The model is still being loaded."
EXCHANGES_READ = 6  # earlier exchanges that the model reads again
TELLING = 8  # tokens of an answer from which on its speed says something
MIB = 2**20
MINUTE_S = 60
IN_MENU = 33  # characters of a model's name that a phone has room for

KNOWS_GLIMPSE = (
    "The built-in model knows only Glimpse, clips of drawn shapes: "
    "its words about others mean nothing."
)


class Message(TypedDict):
    """A line for the person: ``kind`` is quiet (progress) or problem.

    ``turn``: of the settings it is about; one of settings before comes too late to be shown.
    """

    text: str
    kind: str
    turn: NotRequired[int]


class Exchange(TypedDict):
    """One question and its answer, as a conversation that the model remembers holds them."""

    question: str
    answer: str


class Answer(TypedDict):
    """What stands under a side of the viewer; see :func:`answer`."""

    run: str | None
    side: str | None
    text: str
    running: bool
    right: bool | None
    expected: str | None
    stale: bool
    caveat: str
    question: str
    ttft_s: float | None
    flops_saved: float | None
    tokens_per_s: float | None
    model: NotRequired[str]  # that gave it, where the page has another


def message(text: str = "", kind: str = "quiet") -> Message:
    return {"text": text, "kind": kind}


def progress(engine: Engine, model: str, text: str) -> Message:
    """What is under way, and whether it has to wait for the model."""
    return message(text if engine.holds(model) else f"{text} {STILL_LOADING}")


def history(exchanges: Sequence[Exchange]) -> list[tuple[str, str]]:
    """(question, answer) of the exchanges that the model reads again, in the model's own words."""
    pairs = [(item["question"], item["answer"].strip()) for item in exchanges]
    return [pair for pair in pairs if all(pair)][-EXCHANGES_READ:]


def answer(
    text: str,
    run_id: str | None = None,
    side: str | None = None,
    *,
    run: Run | None = None,
    expected: str | None = None,
    running: bool = False,
    stale: bool = False,
    caveat: str = "",
    model: str = "",
) -> Answer:
    """An entry of the prop ``answers`` of a ``MaskViewer``.

    Args:
        text: the model's words so far.
        run_id: id of the run that gave it, one of the value's ``"runs"``; None while there is none.
        side: "a" or "b", where it is shown while it streams or once its run is not on show.
        run: brings the line of cost.
        expected: the right answer where it is known; without one, B is held against A.
        running: more words follow; no verdict is given yet.
        stale: the controls show other settings than those it was given under.
        caveat: what the words are worth, in place of a verdict; empty where nothing is to be said.
        model: that gave it, where the page has another; the answer is out of date then.
    """
    cost = run.cost if run is not None else None
    judged = expected is not None and not running
    given: Answer = {
        "run": run_id,
        "side": side,
        "text": text,
        "running": running,
        "right": same_answer(text, expected or "") if judged else None,
        "expected": expected,
        "stale": stale or bool(model),
        "caveat": caveat,
        "question": run.question.strip() if run is not None else "",
        "ttft_s": _figure(cost.ttft_s) if cost else None,
        "flops_saved": _figure(cost.flops_reduction) if cost else None,
        "tokens_per_s": _figure(_speed(cost)) if cost else None,
    }
    if model:
        given["model"] = short_name(model)
    return given


def _speed(cost: Cost) -> float:
    """Tokens a second; NaN for an answer too short to tell."""
    is_long = cost.new_tokens >= TELLING
    return cost.tokens_per_s if is_long and cost.tokens_per_s else math.nan


def caveat(example: Example | None, model: str) -> str:
    """What the words of an answer are worth, where that is little."""
    known = example is not None and example.questions
    return "" if known or model != BUILT_IN else KNOWS_GLIMPSE


def _figure(value: float) -> float | None:
    """None where it was not measured: JSON knows no NaN."""
    return round(float(value), 4) if math.isfinite(value) else None


def used(video: Video) -> str:
    """What of the clip was used, with the notes of the video reader."""
    frames = f"{len(video)} of {count_of(video.total_frames, 'frame')}"
    return " ".join([f"Used {frames} from {duration_text(video.duration)}.", *video.notes])


def count_of(count: int, noun: str) -> str:
    """``1 frame``, ``1,200 frames``."""
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def duration_text(seconds: float) -> str:
    """``4.0 s``, from one minute on ``1:30`` or ``1:00:00``."""
    if seconds < MINUTE_S:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), MINUTE_S)
    hours, minutes = divmod(minutes, MINUTE_S)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"


def status(engine: Engine, run: Run | None = None) -> list[tuple[str, str]]:
    """(name, text) pairs of the status line; what is not known yet is left out."""
    model = engine.loaded()
    pairs = [("Model", "none loaded yet")]
    if model is not None:
        pairs = [("Device", device_name(model)), ("Model", short_name(model.name))]
    if run is not None:
        record = run.compression
        pairs.append(("Tokens", f"{record.num_kept:,} of {record.num_tokens:,}"))
    pairs.append(("Memory", f"{memory_mib(model):,.0f} MiB"))
    waiting = max(0, len(engine.line) - 1)
    pairs.append(("Queue", f"{waiting} waiting" if waiting else "nobody waits"))
    return pairs


def short_name(name: str) -> str:
    """The last part of a model's name; of servers the first, and how many more there are.

    >>> short_name("vllm:http://127.0.0.1:8000,http://127.0.0.1:8001")
    '127.0.0.1:8000 and 1 more'
    """
    first, *others = name.split(",") if name.startswith(SCHEME) else [name]
    return Path(first).name + (f" and {len(others)} more" if others else "")


def menu_name(name: str) -> str:
    """A model's name as the menu has room for it: of a long one start and end.

    >>> menu_name("vllm:http://127.0.0.1:8000")
    'vLLM at 127.0.0.1:8000'
    >>> menu_name("/data/checkpoints/2026-10/Qwen3-VL-8B-Instruct")
    '/data/check…/Qwen3-VL-8B-Instruct'
    """
    if name.startswith(SCHEME):
        name = f"vLLM at {short_name(name)}"
    return name if len(name) <= IN_MENU else f"{name[:11]}…{name[11 - IN_MENU + 1 :]}"


def device_name(model: Any) -> str:
    """The device of the loaded model."""
    has_gpu = torch.cuda.is_available()
    kind = str(getattr(model, "device", "cuda" if has_gpu else "cpu"))
    return torch.cuda.get_device_name() if kind.startswith("cuda") and has_gpu else kind.upper()


def memory_mib(model: Any | None) -> float:
    """Allocated on the GPU once a model may be there, else the resident memory of this process."""
    if model is not None and torch.cuda.is_available():
        return torch.cuda.memory_allocated() / MIB
    return psutil.Process().memory_info().rss / MIB
