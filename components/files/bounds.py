"""How large a saved run may be: looked at before any of it is parsed or unpacked."""

from __future__ import annotations

import re
import zipfile
from typing import IO

import numpy as np

MAX_RUN_BYTES = 176 * 2**20  # of its arrays: 64 frames of 1280 x 720 pixels and their tokens
MAX_JSON_BYTES = 2**20
MAX_JSON_DEPTH = 16
MAX_JSON_ITEMS = 50_000
TOO_LARGE = "This saved run is too large to be opened here."
_STRING = re.compile(rb'"(?:[^"\\]|\\.)*+"', re.DOTALL)


def check_json(text: bytes) -> None:
    """Raises ``ValueError`` for JSON that would take much more memory than it has bytes."""
    if len(text) > MAX_JSON_BYTES:
        raise ValueError(TOO_LARGE)
    marks = re.sub(rb"[^][{},]", b"", _STRING.sub(b"", text))
    depth = deepest = 0
    for mark in marks[: MAX_JSON_ITEMS + 1]:
        depth += (mark in b"[{") - (mark in b"]}")
        deepest = max(deepest, depth)
    if len(marks) > MAX_JSON_ITEMS or deepest > MAX_JSON_DEPTH:
        raise ValueError(TOO_LARGE)


def check_arrays(file: IO[bytes]) -> None:
    """Raises ``ValueError`` where the arrays of an NPZ file are large together, or not plain."""
    total = 0
    with zipfile.ZipFile(file) as archive:
        for info in archive.infolist():
            with archive.open(info) as member:
                version = np.lib.format.read_magic(member)
                reader = np.lib.format.read_array_header_1_0
                if version != (1, 0):
                    reader = np.lib.format.read_array_header_2_0
                shape, _, dtype = reader(member)
            count = 1
            for side in shape:
                count *= side
            total += max(count * dtype.itemsize, info.file_size)
            if dtype.hasobject or min(shape, default=0) < 0 or total > MAX_RUN_BYTES:
                raise ValueError(TOO_LARGE)
