"""Bodies are small, flat JSON, and what goes on is what was looked at."""

from __future__ import annotations

import json
import time

import pytest

from components.server import bodies


@pytest.mark.parametrize(
    ("body", "status"),
    [
        (b"[" * 1000 + b"]" * 1000, 413),
        (b"[" + b"[]," * bodies.MAX_ITEMS + b"0]", 413),
        (b"[" + b"0," * bodies.MAX_ITEMS + b"0]", 413),
        (b'"' + b'\\"' * 900_000, 400),
        (b"\xff\xfe", 400),
        (b"{", 400),
    ],
    ids=["deep", "many lists", "many numbers", "a text without end", "no text", "half"],
)
def test_what_would_take_much_to_read_is_refused_at_once(body, status):
    start = time.monotonic()
    with pytest.raises(bodies.RefusedError) as refused:
        bodies.judged(body)
    assert refused.value.status == status and time.monotonic() - start < 1.0


def test_long_texts_with_many_commas_pass():
    content = {"data": ["a, [b], {c}" * 10_000, 1.5, None]}
    assert json.loads(bodies.judged(json.dumps(content).encode())) == content


def test_nothing_behind_reads_another_path_than_the_one_looked_at():
    twice = b'{"path": "http://evil.example/x", "path": "/cache/a"}'
    assert bodies.judged(twice) == b'{"path": "/cache/a"}'
    wide = json.dumps({"path": "/cache/a"}).encode("utf-16")
    assert bodies.judged(wide) == b'{"path": "/cache/a"}'
