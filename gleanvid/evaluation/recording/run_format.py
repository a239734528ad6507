"""What a saved run holds, and the check of a run that was read from a file.

The documentation is written from :data:`ARRAYS`; saved runs and recordings are checked by it.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import astuple
from typing import Any

from gleanvid.compressors import COMPRESSORS, declared_settings
from gleanvid.run import Run
from gleanvid.types import Compression

LONGEST_SIDE = 2**16  # limit on width and height of the source video, in pixels
MOST_LAYERS = 1000
MOST_NOTES = 100
LARGEST = 1e18  # limit on the absolute value of numbers; products of two are finite

NUMBER = "float32, float64, int64"  # torch cannot compute with most unsigned integers
VALUE = f"{NUMBER}, bool"
# Name of an array -> types, allowed shapes, meaning. LAYER: the layer that the stage acts before.
# Letters of shapes: F frames, T units, N tokens of a unit, L tokens that enter the stage, K rows
# that leave it; any other letter is free. The first name that fits counts.
ARRAYS: dict[str, tuple[str, tuple[str, ...], str]] = {
    "frames": ("uint8", ("F H W 3",), "RGB"),
    "timestamps": (NUMBER, ("F",), "seconds after the first frame of the source"),
    "indices": ("int64", ("F",), "frame numbers in the source"),
    "seconds": (NUMBER, ("T 2",), "start and end of each unit"),
    "rectangles": (NUMBER, ("N 4",), "part of the frame that each token of a unit shows"),
    "LAYER/keep": ("int64", ("K",), "index of each row among the tokens"),
    "LAYER/group": ("int64", ("L",), "row that each token went into; -1: dropped"),
    "LAYER/weight": (NUMBER, ("L",), "weight of each token in that row"),
    "LAYER/mixing/places": ("int64", ("2 M",), "row and token, if a token feeds several rows"),
    "LAYER/mixing/values": (NUMBER, ("M",), "weight of each such token in its row"),
    "LAYER/scores/NAME": (VALUE, ("L",), "a score of the method"),
    "LAYER/trace/alpha": (NUMBER, ("",), "fraction of the budget that is spread evenly"),
    "LAYER/trace/gini": (NUMBER, ("",), "Gini coefficient of the novelty"),
    "LAYER/trace/novelty": (NUMBER, ("T",), "novelty of each unit"),
    "LAYER/trace/share": (NUMBER, ("T",), "each unit's fraction of the novelty"),
    "LAYER/trace/saturated": ("bool", ("T",), "whether the kept tokens span all directions"),
    "LAYER/trace/budget_over_width": (NUMBER, ("",), "kept tokens per dimension of the features"),
    "LAYER/trace/diagnostics/basis_rank": ("int64", ("T",), "dimension spanned by then"),
    "LAYER/trace/diagnostics/NAME_so_far": (NUMBER, ("T",), "a diagnostic of all units until then"),
    "LAYER/trace/diagnostics/NAME_by_unit": (NUMBER, ("T",), "a diagnostic of each unit, or NaN"),
    "LAYER/trace/diagnostics/NAME": (NUMBER, ("",), "a diagnostic of the clip, or NaN"),
    "LAYER/trace/NAME": (VALUE, ("", "T"), "another value of the clip, or of each unit"),
    "LAYER/state/NAME": (VALUE, ("", "R"), "what the next stage of the method reads"),
}
NAME = r"\w[\w .-]*"  # names become names of files in archives
NOVELTY = {"novelty", "share", "gini", "alpha"}  # parts of a trace that come together


def check_run(run: Run) -> None:
    """Raise ``ValueError`` unless all values of a run are those that GleanVID writes.

    A value of a wrong type may also raise another error of ``gleanvid.errors.MALFORMED``.
    """
    grid = run.compression.grid
    video, numbers = run.video, [*astuple(run.cost)[:-1], *run.cost.visual_tokens_by_layer]
    numbers += [video.fps, video.duration, video.total_frames, *video.source_size]
    texts = (run.question, run.answer, run.model, video.name, *video.notes)
    _require(all(type(side) is int and side >= 1 for side in grid), f"grid {list(grid)}")
    _require(grid[0] <= len(video), f"{grid[0]} units of {len(video)} frames")
    _require(all(0 <= layer < MOST_LAYERS for layer in run.by_layer), "a layer is out of range")
    _require(len(run.cost.visual_tokens_by_layer) <= MOST_LAYERS, "too many layers")
    _require(len(video.notes) <= MOST_NOTES, f"more than {MOST_NOTES} notes")
    _require(min(*video.source_size, *video.frames.shape[1:3]) >= 1, "a frame without pixels")
    _require(max(video.source_size) <= LONGEST_SIDE, f"a side above {LONGEST_SIDE} pixels")
    _require(run.cost.visual_tokens >= 1, "no visual tokens")
    _require(all(isinstance(text, str) for text in texts), "a text is not a string")
    _require(all(map(_is_number, numbers)), "a number is not one, or is huge")
    _check_settings(run)
    _check_arrays(run)
    entering = math.prod(grid)
    for _, record in sorted(run.by_layer.items()):
        _require(record.grid == grid and record.num_tokens == entering, "stages do not fit")
        _check_record(record)
        entering = record.num_kept


def _require(holds: object, reason: str) -> None:
    if not holds:
        raise ValueError(reason)


def _is_number(value: object) -> bool:
    """Return whether a value is a number within ±``LARGEST``; NaN is accepted."""
    return isinstance(value, int | float) and not abs(value) > LARGEST


def _check_settings(run: Run) -> None:
    """Check the settings of the compressor, and the entries of ``made_with`` that the app reads."""
    settings: Mapping[str, Any] = run.compressor
    passes = run.made_with.get("first_token_s") or ()
    _require(re.fullmatch(NAME, settings["name"]), "the name of the compressor")
    plain = (isinstance(value, str | None) or _is_number(value) for value in settings.values())
    _require(all(plain), "a setting of the compressor is neither a number nor a text")
    if method := COMPRESSORS.get(settings["name"]):
        own: Any = {name: settings[name] for name in declared_settings(method) if name in settings}
        method(**own)
    pixels = run.made_with.get("max_pixels")
    _require(pixels is None or type(pixels) is int, f"max_pixels={pixels!r}")
    _require(all(map(_is_number, passes)), "first_token_s must be numbers")


def _check_arrays(run: Run) -> None:
    """Check type, shape and range of every array by :data:`ARRAYS`."""
    units, rows, columns = run.compression.grid
    clip = {"F": len(run.video), "T": units, "N": rows * columns, "2": 2, "3": 3, "4": 4}
    for name, array in run.arrays().items():
        types, shapes, _ = _entry(name)
        layer = name.partition("/")[0]
        record = run.by_layer[int(layer)] if layer.isdecimal() else run.compression
        sizes = clip | {"L": record.num_tokens, "K": record.num_kept}
        fits = any(_has_shape(array.shape, shape.split(), sizes) for shape in shapes)
        _require(
            fits and array.dtype.name in types.split(", "),
            f"{name!r} is {array.dtype} {list(array.shape)}, not {types} {list(shapes)}",
        )
        if array.dtype.kind in "fi" and array.size and "/trace/diagnostics/" not in name:
            _require(array.min() >= -LARGEST and array.max() <= LARGEST, f"{name!r} is not finite")


def _has_shape(shape: tuple[int, ...], letters: list[str], sizes: Mapping[str, int]) -> bool:
    pairs = zip(shape, letters, strict=False)
    return len(shape) == len(letters) and all(sizes.get(one, side) == side for side, one in pairs)


def _entry(name: str) -> tuple[str, tuple[str, ...], str]:
    for pattern, entry in _PATTERNS:
        if pattern.fullmatch(name):
            return entry
    raise ValueError(f"unknown array {name!r}")


def _pattern(name: str) -> re.Pattern[str]:
    text = re.escape(name).replace("LAYER", r"\d+").replace("NAME", NAME)
    return re.compile(text)


_PATTERNS = [(_pattern(name), entry) for name, entry in ARRAYS.items()]


def _check_record(record: Compression) -> None:
    """Check that the indices of a compression record are in range, and its trace is complete."""
    keep, group = record.keep, record.group
    _require(0 <= int(keep.min()) <= int(keep.max()) < record.num_tokens, "keep is out of range")
    _require(bool((keep.diff() >= 0).all()), "keep is not ascending")
    _require(-1 <= int(group.min()) <= int(group.max()) < record.num_kept, "group is out of range")
    has_novelty = not {"novelty", "alpha"}.isdisjoint(record.trace)
    _require(not has_novelty or record.trace.keys() >= NOVELTY, f"trace lacks one of {NOVELTY}")
