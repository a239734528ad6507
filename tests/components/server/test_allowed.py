import json
import time

import pytest

from components.server import allowed
from components.server.allowed import ALLOWED, GRADIO, RefusedError, checked_json, matcher


@pytest.mark.parametrize(
    "entry",
    [
        "GET /", f"GET {GRADIO}/file=/a/b.mp4", f"POST {GRADIO}/call/ask",
        f"GET {GRADIO}/call/ask/17", f"POST {GRADIO}/call/v2/compare",
        f"GET {GRADIO}/file=C:/a/b.mp4",
    ],
)  # fmt: skip
def test_listed_routes_pass_the_allow_list(entry):
    assert matcher(ALLOWED)(*entry.split(" "))


@pytest.mark.parametrize(
    "entry",
    [
        "POST /", f"OPTIONS {GRADIO}/queue/join", f"GET {GRADIO}/upload", "GET ",
        f"POST {GRADIO}/process_recording", f"POST {GRADIO}/run/ask", f"GET {GRADIO}/mcp/sse",
        f"POST {GRADIO}/queue/join/", f"GET {GRADIO}/proxy=http://a/", f"POST {GRADIO}/call/ask/b",
        f"POST {GRADIO}/call/on_open", f"POST {GRADIO}/call/v2/on_open", f"GET {GRADIO}/call/a/1",
        f"GET {GRADIO}/file=https://evil.example/a.mp4", f"GET {GRADIO}/file=//evil.example/a.mp4",
        f"GET {GRADIO}/file=http:%2F%2Fevil.example/a.mp4", f"GET {GRADIO}/file=file:///etc/passwd",
    ],
)  # fmt: skip
def test_unlisted_routes_and_absolute_addresses_are_not_allowed(entry):
    assert not matcher(ALLOWED)(*entry.split(" "))


@pytest.mark.parametrize(
    ("body", "status"),
    [
        (b"[" * 100_000 + b"]" * 100_000, 400),
        (b'"' + b"x" * allowed.MAX_JSON, 413),
        (b'"' + b'\\"' * 130_000, 400),
        (b"\xff\xfe", 400),
        (b"{", 400),
        (b"[NaN]", 400),
        (b'{"data": ["\\ud800"]}', 400),
        (b'{"a": ' + b"9" * 5000 + b"}", 400),
        (b'{"path": "HTTPS://a.example/x"}', 422),
        (b'[[{"a": {"path": " ftp://a/x"}}]]', 422),
        (b'{"path": "file:///etc/passwd"}', 422),
        ('{"path": "http://a.example/x"}'.encode("utf-16"), 400),
    ],
    ids=["deep", "long", "text without end", "no text", "half", "not a number", "surrogate",
         "digits", "address", "nested address", "file address", "other encoding"],
)  # fmt: skip
def test_invalid_request_body_is_refused_within_a_second(body, status):
    start = time.thread_time()
    with pytest.raises(RefusedError) as refused:
        checked_json(body)
    assert refused.value.status == status and time.thread_time() - start < 1.0


def test_long_text_with_many_commas_passes_the_check_of_request_bodies():
    content = {"data": ["a, [b], {c}" * 10_000, 1.5, None, "é"]}
    assert json.loads(checked_json(json.dumps(content).encode())) == content


def test_duplicate_key_in_a_request_body_keeps_only_its_last_value():
    twice = b'{"path": "http://evil.example/x", "path": "/a/b"}'
    assert checked_json(twice) == b'{"path": "/a/b"}'


@pytest.mark.parametrize("key", ["session_hash", "event_id"])
def test_long_session_name_or_one_with_the_separator_of_gradio_is_refused(key):
    # A number passes this check; Gradio refuses it later.
    for plain in ("x" * 64, "0ab-1", None, 5):
        content = {key: plain, "data": ["a<b"]}
        assert json.loads(checked_json(json.dumps(content).encode())) == content
    for odd in ("a<gradio-sep>b", "x" * 65, ["x"]):
        with pytest.raises(RefusedError, match="session_hash, event_id"):
            checked_json(json.dumps({key: odd}).encode())
