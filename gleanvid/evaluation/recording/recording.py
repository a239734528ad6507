"""Opens recordings (see :mod:`.file_format`). All they hold is checked: files may be hostile."""

from __future__ import annotations

import io
import json
import math
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import torch
from PIL import Image
from safetensors import SafetensorError, safe_open
from torch import Tensor

from gleanvid.attribution.relevance import Relevance
from gleanvid.errors import refusing
from gleanvid.evaluation.recording.file_format import KEY, VERSION, read_features
from gleanvid.evaluation.recording.recorded_relevance import named, read_relevance
from gleanvid.evaluation.recording.run_format import check_run
from gleanvid.run import Run
from gleanvid.types import Video, VideoTokens
from gleanvid.video.isolation.bounds import fits

MAX_BYTES = 4 * 2**30
MAX_FRAME_BYTES = 2 * 2**30  # limit in bytes for all decoded frames together
MAX_FEATURE_BYTES = 2 * 2**30  # limit in bytes for features that are converted
MAX_HEADER = 8 * 2**20
MAX_FRAMES, MAX_SIDE, MAX_TOKENS, MAX_WIDTH, MAX_RUNS = 1024, 4096, 2**20, 2**15, 256
MODEL = {"model", "model_weights", "processor", "dtype", "layers", "max_pixels"}
_FLOATS = {"F32": torch.float32, "F16": torch.float16, "BF16": torch.bfloat16}
_NAMED = {str(dtype).removeprefix("torch."): dtype for dtype in _FLOATS.values()}
_ANY_FLOAT = (*_FLOATS, "F64")
_DAMAGED = (OSError, SafetensorError, Image.DecompressionBombError)


@dataclass(frozen=True, eq=False, repr=False)
class RecordedVideo(Video):
    """The frames of a recording, with the visual tokens that the model encoded them to."""

    tokens: VideoTokens | None = None
    encode_s: float = 0.0


@dataclass(frozen=True, eq=False)
class Recording:
    """A clip, with its visual tokens and answers by one model.

    ``facts``: the JSON of the file. ``runs``: the recorded answers. ``log_probability``: for each
    answer, the mean log-probability of its tokens. ``relevance``: for each question, how much the
    model's answer with all tokens rests on each visual token, if this was recorded.
    """

    facts: Mapping[str, Any]
    video: RecordedVideo
    runs: tuple[Run, ...]
    log_probability: tuple[float, ...]
    relevance: tuple[Relevance, ...] = ()

    def __repr__(self) -> str:
        model = self.facts["model"]["model"]
        return f"Recording({self.video}, {self.tokens}, {model}, {len(self.runs)} runs)"

    @property
    def tokens(self) -> VideoTokens:
        """The visual tokens, on the CPU.

        Features stored in the model's precision are memory-mapped from the file.
        """
        assert self.video.tokens is not None
        return self.video.tokens

    def answered(self, question: str, settings: Mapping[str, object]) -> Run | None:
        """Return the recorded answer to a question under these compressor settings, or None."""
        asked = question, dict(settings)
        return next((r for r in self.runs if (r.question, dict(r.compressor)) == asked), None)


def open_recording(path: str | Path) -> Recording:
    """Open a recording. Raises ``ValueError`` with the reason if it is damaged."""
    with _whole(Path(path)), safe_open(path, "pt") as file:
        facts = _facts(file)
        _check_tensors(file, facts)
        return _recording(facts, {name: file.get_tensor(name) for name in file.keys()})  # noqa: SIM118


def read_facts(path: str | Path) -> dict[str, Any]:
    """Return the JSON of a recording without its tensors. Raises ``ValueError`` if damaged."""
    with _whole(Path(path)), safe_open(path, "pt") as file:
        return _facts(file)


@contextmanager
def _whole(path: Path) -> Iterator[None]:
    """Check the file's size, and turn errors of the block into a ``ValueError``."""
    text = f"{path.name} is not a recording of GleanVID"
    with refusing(ValueError, text, *_DAMAGED, because=True):
        _check_size(path)
        yield


def _check_size(path: Path) -> None:
    if not path.is_file():
        raise ValueError("the path is not a file")
    if path.stat().st_size > MAX_BYTES:
        raise ValueError(f"the file is larger than {MAX_BYTES / 2**30:.0f} GiB")
    with path.open("rb") as file:
        if int.from_bytes(file.read(8), "little") > MAX_HEADER:
            raise ValueError("the header of the file is too large")


def _facts(file: Any) -> dict[str, Any]:
    text = (file.metadata() or {}).get(KEY)
    if text is None:
        raise ValueError(f'missing metadata entry "{KEY}"')
    if not fits(text.encode(), MAX_HEADER):
        raise ValueError("the metadata of the file is too large")
    facts = json.loads(text)
    if facts["version"] != VERSION:
        raise ValueError(f"format version {facts['version']!r}, this GleanVID reads {VERSION}")
    if missing := MODEL - facts["model"].keys():
        raise ValueError(f"{min(missing)!r} of the model is missing")
    return facts


def _check_tensors(file: Any, facts: Mapping[str, Any]) -> None:
    """Check names, types and shapes of all tensors, before any tensor is read."""
    grid = facts["grid"]
    if len(grid) != 3 or not all(type(n) is int and n >= 1 for n in grid):
        raise ValueError(f"grid {grid}")
    known = {name: file.get_slice(name) for name in file.keys()}  # noqa: SIM118
    shapes = {name: tuple(part.get_shape()) for name, part in known.items()}
    types = {name: part.get_dtype() for name, part in known.items()}
    count, frames, width = math.prod(grid), shapes["timestamps"][0], shapes["features"][-1]
    if count > MAX_TOKENS or width > MAX_WIDTH or not 1 <= frames <= MAX_FRAMES:
        raise ValueError(f"the clip is too large: {count} tokens of width {width}, {frames} frames")
    expected: dict[str, tuple[tuple[int, ...], tuple[str, ...]]] = {
        "features": ((count, width), ("I8", *_FLOATS)),
        "seconds": ((grid[0], 2), _ANY_FLOAT),
        "rectangles": ((grid[1] * grid[2], 4), _ANY_FLOAT),
        "frames": (shapes["frames"][:1], ("U8",)),
        "frame_ends": ((frames,), ("I64",)),
        "timestamps": ((frames,), ("F64",)),
        "indices": ((frames,), ("I64",)),
    }
    if types["features"] == "I8":
        expected |= {f"features_{name}": ((width,), ("F32",)) for name in ("scale", "mean")}
    for number in range(len(facts.get("relevance", ()))):
        expected[named(number)] = ((count,), ("F32",))
    if "saliency" in shapes:
        expected["saliency"] = ((count,), _ANY_FLOAT)
    if "keys" in shapes:
        expected["keys"] = ((count, shapes["keys"][-1]), _ANY_FLOAT)
    _check_room(facts, shapes, types)
    runs = {name for name in shapes if re.fullmatch(r"run/\d+/\d+/[\w/]+", name)}
    if strange := set(shapes) - set(expected) - runs:
        raise ValueError(f"the file holds an unknown tensor {min(strange)}")
    for name, (shape, allowed) in expected.items():
        if shapes[name] != shape or types[name] not in allowed:
            raise ValueError(f"{name} is {types[name]} {list(shapes[name])}, not {list(shape)}")


def _check_room(
    facts: Mapping[str, Any], shapes: Mapping[str, Any], types: Mapping[str, str]
) -> None:
    """Refuse a recording that would take too much memory, before allocating."""
    kept = _NAMED[facts["model"]["dtype"]]
    unpacked = 0 if _FLOATS.get(types["features"]) is kept else kept.itemsize
    if math.prod(shapes["features"]) * unpacked > MAX_FEATURE_BYTES:
        raise ValueError(f"the features take more than {MAX_FEATURE_BYTES / 2**30:.0f} GiB")
    if "keys" in shapes and shapes["keys"][-1] > MAX_WIDTH:
        raise ValueError(f"keys of width {shapes['keys'][-1]}, the limit is {MAX_WIDTH}")
    height, width = facts["video"]["frame_size"]
    if not all(type(side) is int and 1 <= side <= MAX_SIDE for side in (height, width)):
        raise ValueError(f"frames of {height} x {width} pixels, the limit is {MAX_SIDE} a side")
    if 3 * height * width * shapes["timestamps"][0] > MAX_FRAME_BYTES:
        raise ValueError(f"the frames take more than {MAX_FRAME_BYTES / 2**30:.0f} GiB")


def _recording(facts: Mapping[str, Any], tensors: dict[str, Tensor]) -> Recording:
    for name, rows in tensors.items():  # VideoTokens checks features; _run checks runs
        if rows.is_floating_point() and not name.startswith(("run/", "features")):
            _check_finite(name, rows)
    grid = (facts["grid"][0], facts["grid"][1], facts["grid"][2])
    tokens = VideoTokens(
        read_features(tensors, _NAMED[facts["model"]["dtype"]]),
        grid,
        tensors["seconds"],
        tensors["rectangles"],
        saliency=tensors.get("saliency"),
        keys=tensors.get("keys"),
    )
    video = _video(facts, tensors, tokens)
    if len(facts["runs"]) > MAX_RUNS:
        raise ValueError(f"the file has {len(facts['runs'])} runs; the limit is {MAX_RUNS}")
    runs = [_run(told, tensors, n, video) for n, told in enumerate(facts["runs"])]
    likely = tuple(float(told["log_probability"]) for told in facts["runs"])
    if not all(map(math.isfinite, likely)):
        raise ValueError("recorded log_probability contains NaN or infinite values")
    return Recording(facts, video, tuple(runs), likely, read_relevance(facts, tensors, grid))


def _video(
    facts: Mapping[str, Any], tensors: Mapping[str, Tensor], tokens: VideoTokens
) -> RecordedVideo:
    told = dict(facts["video"])
    height, width = told.pop("frame_size")
    data, ends = tensors["frames"].numpy(), [0, *tensors["frame_ends"].tolist()]
    if ends != sorted(ends) or ends[-1] != len(data):
        raise ValueError("frame_ends does not match the frames")
    frames = np.empty((len(ends) - 1, height, width, 3), np.uint8)
    for number, (start, stop) in enumerate(pairwise(ends)):
        frames[number] = _decoded(data[start:stop], (width, height))
    told["source_size"], told["notes"] = tuple(told["source_size"]), tuple(told["notes"])
    for name in ("fps", "duration", "total_frames"):
        _check_finite(name, torch.tensor(told[name], dtype=torch.float64))
    _check_finite("encode_s", torch.tensor(facts["encode_s"], dtype=torch.float64))
    times = tensors["timestamps"].numpy(), tensors["indices"].numpy()
    return RecordedVideo(frames, *times, **told, tokens=tokens, encode_s=float(facts["encode_s"]))


def _check_finite(name: str, numbers: Tensor) -> None:
    """Raise ``ValueError`` if a number is NaN or infinite. The numbers are not copied."""
    low, high = torch.aminmax(numbers)
    if not (torch.isfinite(low) and torch.isfinite(high)):
        raise ValueError(f"{name} holds NaN or infinite values")


def _decoded(file: np.ndarray, size: tuple[int, int]) -> np.ndarray:
    with Image.open(io.BytesIO(file.tobytes()), formats=["JPEG"]) as image:
        if image.size != size:  # checked before decoding any pixel
            raise ValueError(f"a frame has {image.size} pixels, not {size}")
        return np.asarray(image.convert("RGB"))


def _run(told: Mapping[str, Any], tensors: Mapping[str, Tensor], number: int, video: Video) -> Run:
    start = f"run/{number}/"
    own = {n.removeprefix(start): t.numpy() for n, t in tensors.items() if n.startswith(start)}
    own |= {name: getattr(video, name) for name in ("frames", "timestamps", "indices")}
    own |= {name: tensors[name].numpy() for name in ("seconds", "rectangles")}
    run = replace(Run.of(told, own), video=video)
    with refusing(ValueError, f"run {number}", because=True):
        check_run(run)
    return run
