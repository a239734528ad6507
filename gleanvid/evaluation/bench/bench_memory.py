"""Peak memory of encoding and answering against the number of frames."""

from __future__ import annotations

import copy
import ctypes
import gc
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, TypedDict

import numpy as np
import torch

from gleanvid.compressors import Compressor, title_of
from gleanvid.evaluation.markdown import markdown_table
from gleanvid.evaluation.provenance import Machine, describe_machine, in_words
from gleanvid.models import ModelAdapter
from gleanvid.models.cost.measure import peak_memory_mib, reset_peak_memory
from gleanvid.models.generation.sampling import Sampling
from gleanvid.types import Video

QUESTION = "What moves?"
_SIZE = (160, 160)
_MMAP_THRESHOLD = -3  # the constant M_MMAP_THRESHOLD of glibc's mallopt()


class Row(TypedDict):
    """Measured memory for one number of frames."""

    frames: int
    visual_tokens: int
    pixels_mib: float
    encode_mib: float
    encode_at_once_mib: float
    held_mib: float
    answer_all_mib: float
    answer_compressed_mib: float


class Report(TypedDict):
    """Report of ``gleanvid bench memory``. ``compressor``: its name and settings."""

    machine: Machine
    model: str
    compressor: dict[str, Any]
    new_tokens: int
    height: int
    width: int
    dtype: str
    rows: list[Row]


def noise(num_frames: int, seed: int = 0) -> Video:
    """Make a clip of random pixels, in which nothing repeats."""
    random = np.random.default_rng(seed)
    frames = random.integers(0, 256, (num_frames, *_SIZE, 3), dtype=np.uint8)
    return Video.from_frames(frames, fps=2.0)


def measure(
    model: ModelAdapter, compressor: Compressor, frames: Sequence[int], new_tokens: int = 4
) -> Report:
    """Measure memory per number of frames, in MiB above the memory held before each call.

    For each number of frames, these are measured:

    - two peaks of encoding: the vision tower reads the clip in parts, or all at once;
    - two peaks of answering: from all tokens, or from the kept tokens;
    - the size of the encoded clip, and of the pixels that the processor returns.

    On CUDA, a peak is of allocated memory. On the CPU, it is of the process's resident memory.
    """
    machine = describe_machine(model.device)
    # warm-up: libraries allocate their workspace in the first call
    _row(model, noise(2), compressor, new_tokens)
    rows = [_row(model, noise(count), compressor, new_tokens) for count in frames]
    return {
        "machine": machine,
        "model": model.name,
        "compressor": compressor.settings(),
        "new_tokens": new_tokens,
        "height": _SIZE[0],
        "width": _SIZE[1],
        "dtype": str(model.hf_model.dtype),
        "rows": rows,
    }


def _row(model: ModelAdapter, video: Video, compressor: Compressor, new_tokens: int) -> Row:
    parts, encoded = peak_above(model.device, lambda: model.encode(video, compressor.needs))
    tokens = encoded.tokens
    tokens_bytes = _nbytes([tokens.features, encoded.vision])
    pixels = model.build_inputs(video, encoded.prefix, model.max_pixels)[model.pixel_input].nbytes
    whole = copy.copy(model)
    whole.layout = replace(model.layout, numbers_at_once=2**62)
    at_once, _ = peak_above(model.device, lambda: whole.encode(video, compressor.needs))

    def answer(method: Compressor | None) -> Callable[[], Any]:
        return lambda: model.generate(encoded, QUESTION, method, Sampling(new_tokens))

    return {
        "frames": len(video),
        "visual_tokens": len(tokens),
        "pixels_mib": pixels / 2**20,
        "encode_mib": parts,
        "encode_at_once_mib": at_once,
        "held_mib": tokens_bytes / 2**20,
        "answer_all_mib": peak_above(model.device, answer(None))[0],
        "answer_compressed_mib": peak_above(model.device, answer(compressor))[0],
    }


def peak_above(device: torch.device, call: Callable[[], Any]) -> tuple[float, Any]:
    """Return the peak memory of ``call`` in MiB above the memory before it, and its result.

    Before the first measurement, make a small call of the same kind: libraries allocate their
    workspace in the first call.
    """
    gc.collect()
    with _mapped_blocks():
        reset_peak_memory(device)
        before = peak_memory_mib(device)
        result = call()
        return peak_memory_mib(device) - before, result


@contextmanager
def _mapped_blocks() -> Iterator[None]:
    """While the block runs, have glibc give freed memory back to the system at once.

    This concerns allocations of 64 KiB or more. Otherwise the peak depends on how much freed memory
    glibc could reuse. Afterwards, glibc again keeps freed allocations of up to 32 MiB, because that
    is faster.
    """
    try:
        libc = ctypes.CDLL("libc.so.6")
        libc.malloc_trim(0)
    except (OSError, AttributeError):  # the C library is not glibc
        yield
        return
    libc.mallopt(_MMAP_THRESHOLD, 2**16)
    try:
        yield
    finally:
        libc.mallopt(_MMAP_THRESHOLD, 2**25)


def _nbytes(output: Any) -> int:
    """Sum the bytes of all tensors in ``output``, also nested ones. Shared storage counts once."""
    found: dict[int, int] = {}
    waiting = [output]
    while waiting:
        value = waiting.pop()
        if isinstance(value, torch.Tensor):
            storage = value.untyped_storage()
            found[storage.data_ptr()] = storage.nbytes()
        elif hasattr(value, "values"):
            waiting += list(vars(value).values())
        elif isinstance(value, (list, tuple)):
            waiting += list(value)
    return sum(found.values())


def table(report: Report) -> str:
    share = report["compressor"].get("retention_ratio", 1.0)
    about = f"{report['model']}, {report['dtype']}, MiB above the memory held before each call; "
    heads = ["frames", "tokens", "pixels", "encode", "encode at once", "held"]
    heads += [
        "answer, all tokens",
        f"answer, {title_of(report['compressor']['name'])} at {share:.0%}",
    ]
    rows = [
        [f"{value:.1f}" if name.endswith("_mib") else str(value) for name, value in row.items()]
        for row in report["rows"]
    ]
    return f"{about}{in_words(report['machine'])}\n\n{markdown_table(heads, rows)}".rstrip()
