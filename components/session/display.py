"""What the page displays, as plain values: messages, exchanges and the status line."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, TypedDict

import torch

from components.files.labels import labels
from components.session.engine import Engine
from gleanvid.run import Cost, Run

STILL_LOADING = "The model is still being loaded."
NO_WORDS = "(The model gave no words.)"
EXCHANGES_READ = 6  # earlier exchanges that the model reads again
MIB = 2**20


class Message(TypedDict):
    """A line for the person: ``kind`` is quiet (progress) or problem."""

    text: str
    kind: str


class Exchange(TypedDict):
    """One question and its answer, as the page lists them."""

    question: str
    answer: str
    expected: str | None  # the right answer, where it is known
    by: str  # label of the compressor
    cost: list[tuple[str, str]]  # (label, figure)
    running: bool
    id: str  # of the run


def message(text: str = "", kind: str = "quiet") -> Message:
    return {"text": text, "kind": kind}


def progress(engine: Engine, model: str, text: str) -> Message:
    """What is under way, and whether it has to wait for the model."""
    return message(text if engine.holds(model) else f"{text} {STILL_LOADING}")


def exchange(
    question: str,
    answer: str,
    run: Run | None = None,
    expected: str | None = None,
    running: bool = False,
    run_id: str = "",
) -> Exchange:
    """A finished run brings its cost; ``expected`` is the right answer where it is known."""
    return {
        "question": question,
        "answer": answer if running or answer.strip() else NO_WORDS,
        "expected": expected,
        "by": labels([run])[0] if run else "",
        "cost": cost_line(run.cost) if run else [],
        "running": running,
        "id": run_id,
    }


def history(exchanges: Sequence[Exchange]) -> list[tuple[str, str]]:
    """(question, answer) of the exchanges that the model reads again, in the model's own words."""
    pairs = [(item["question"], item["answer"].strip()) for item in exchanges]
    answered = [(question, answer) for question, answer in pairs if question and answer]
    return [pair for pair in answered if pair[1] != NO_WORDS][-EXCHANGES_READ:]


def cost_line(cost: Cost) -> list[tuple[str, str]]:
    """(label, figure) pairs, in the order of the work: tokens, time, memory, arithmetic."""
    layers = cost.visual_tokens_by_layer or (cost.visual_tokens_kept,)
    share = f"{cost.average_retention:.0%}" + " over the layers" * (min(layers) != max(layers))
    return [
        (
            "visual tokens",
            f"{cost.visual_tokens_kept:,} of {cost.visual_tokens:,} ({share})",
        ),
        ("to first token", f"{cost.ttft_s:.2f} s"),
        ("tokens/s", f"{cost.tokens_per_s:.1f}"),
        ("compress", f"{1000 * cost.compress_s:.1f} ms"),
        ("peak memory", f"{cost.peak_memory_mib:,.0f} MiB"),
        ("prefill FLOPs", f"−{cost.flops_reduction:.0%}"),
    ]


def status(engine: Engine, run: Run | None = None) -> list[tuple[str, str]]:
    """(name, text) pairs of the status line; what is not known yet is left out."""
    model = engine.loaded()
    pairs = [("Model", "none loaded yet")]
    if model is not None:
        pairs = [("Device", device_name(model)), ("Model", Path(model.name).name)]
    if run is not None:
        record = run.compression
        pairs.append(("Tokens", f"{record.num_kept:,} of {record.num_tokens:,}"))
    pairs.append(("Memory", f"{memory_mib(model):,.0f} MiB"))
    waiting = max(0, len(engine.line) - 1)
    busy = "busy" if len(engine.line) else "free"
    pairs.append(("Queue", f"{waiting} waiting" if waiting else busy))
    return pairs


def device_name(model: Any) -> str:
    """The device of the loaded model."""
    has_gpu = torch.cuda.is_available()
    kind = str(getattr(model, "device", "cuda" if has_gpu else "cpu"))
    return torch.cuda.get_device_name() if kind.startswith("cuda") and has_gpu else kind.upper()


def memory_mib(model: Any | None) -> float:
    """Allocated on the GPU once a model may be there, else the resident memory of this process."""
    if model is not None and torch.cuda.is_available():
        return torch.cuda.memory_allocated() / MIB
    try:
        pages = int(Path("/proc/self/statm").read_text().split()[1])
    except OSError:  # no Linux
        return 0.0
    return pages * 4096 / MIB
