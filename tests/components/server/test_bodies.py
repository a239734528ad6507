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
        (b'"' + b'\\"' * 130_000, 400),
        (b"\xff\xfe", 400),
        (b"{", 400),
        (b'{"data": ["\\ud800"]}', 400),
        (b'{"a": ' + b"9" * 5000 + b"}", 400),
    ],
    ids=["deep", "lists", "numbers", "text without end", "no text", "half", "surrogate", "digits"],
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


@pytest.mark.parametrize("coding", ["utf-16", "utf-16-le", "utf-32", "utf-8-sig"])
def test_no_encoding_hides_brackets(coding):
    quote = "\u0122"  # one of its bytes looks like the end of a text
    lists = '["' + quote + '",' + "[]," * bodies.MAX_ITEMS + "0]"
    with pytest.raises(bodies.RefusedError):
        bodies.judged(lists.encode(coding))
    with pytest.raises(bodies.RefusedError):
        bodies.judged('["a"]'.encode(coding))


def test_a_file_as_a_text_is_no_upload():
    tool = {"method": "tools/call", "params": {"arguments": {"video": "data:video/mp4;base64,AA"}}}
    with pytest.raises(bodies.RefusedError, match="Upload the file"):
        bodies.judged(json.dumps(tool).encode())


@pytest.mark.parametrize("name", bodies.NAMES)
def test_names_of_sessions_are_plain(name):
    for plain in ("x" * 64, "0ab-1", None, 5):  # what is no text is refused behind
        content = {name: plain, "data": ["x" * 1000]}
        assert json.loads(bodies.judged(json.dumps(content).encode())) == content
    for odd in ("", "x" * 65, "a<gradio-sep>b", "a\nb", "../a", "a b", "é"):
        with pytest.raises(bodies.RefusedError, match="name of a session"):
            bodies.judged(json.dumps({name: odd}).encode())
