"""Size limits for data that may be hostile, checked before it is parsed or unpacked."""

from __future__ import annotations

import re

PARTS = ("run.json", "run.npz")  # files of a saved run's archive
# Limit on a saved run's unpacked arrays; 64 frames of 1280 x 720 px and their tokens fit.
MAX_RUN_BYTES = 176 * 2**20
MAX_RUN_ARRAYS = 512
MAX_JSON_BYTES = 2**20
MAX_JSON_DEPTH = 16
MAX_JSON_ITEMS = 50_000
TOO_LARGE = "This saved run is too large to be opened in the app."
NO_RUN = "This is not a run saved by GleanVID."

# The closing quote is optional. If it were required, a text with many quotes and no end would be
# scanned to its end once for every quote.
_STRING = re.compile(rb'"(?:[^"\\]++|\\.)*+"?', re.DOTALL)

_NO_MARKS = bytes(set(range(256)) - set(b"[]{},"))


def fits(
    text: bytes,
    most_bytes: int = MAX_JSON_BYTES,
    most_items: int = MAX_JSON_ITEMS,
    deepest: int = MAX_JSON_DEPTH,
) -> bool:
    """Return whether JSON text is safe to parse: not too long, too deep or with too many items.

    The check takes time linear in the length of the text.
    """
    if len(text) > most_bytes:
        return False
    marks = _STRING.sub(b"", text).translate(None, _NO_MARKS)
    if len(marks) > most_items:
        return False
    depth = deepest_seen = 0
    for mark in marks:
        depth += (mark in b"[{") - (mark in b"]}")
        deepest_seen = max(deepest_seen, depth)
    return deepest_seen <= deepest
