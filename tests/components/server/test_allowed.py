from __future__ import annotations

import json
import time

import pytest
from gradio import set_static_paths

from components.server import allowed
from components.server.allowed import ALLOWED, GRADIO, RefusedError, checked_json, matcher


@pytest.mark.parametrize(
    "entry",
    [
        "GET /", f"GET {GRADIO}/file=/a/b.mp4", f"POST {GRADIO}/call/ask",
        f"GET {GRADIO}/call/ask/17", f"POST {GRADIO}/call/v2/compare",
        f"GET {GRADIO}/file=/a/{127 * 'é'}/b", f"GET {GRADIO}/file=C:/a/b.mp4",
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
        f"GET /static/{256 * 'x'}", f"GET {GRADIO}/file=/a/{128 * 'é'}",
        f"GET {GRADIO}/file=https://evil.example/a.mp4", f"GET {GRADIO}/file=//evil.example/a.mp4",
        f"GET {GRADIO}/file=http:%2F%2Fevil.example/a.mp4", f"GET {GRADIO}/file=file:///etc/passwd",
    ],
)  # fmt: skip
def test_unlisted_routes_and_absolute_addresses_are_not_allowed(entry):
    assert not matcher(ALLOWED)(*entry.split(" "))


@pytest.mark.parametrize(
    ("body", "status"),
    [
        (b"[" * 1000 + b"]" * 1000, 413),
        (b"[" + b"[]," * allowed.MAX_ITEMS + b"0]", 413),
        (b"[" + b"0," * allowed.MAX_ITEMS + b"0]", 413),
        (b'"' + b'\\"' * 130_000, 400),
        (b"\xff\xfe", 400),
        (b"{", 400),
        (b'{"data": ["\\ud800"]}', 400),
        (b'{"a": ' + b"9" * 5000 + b"}", 400),
        (b'{"path": "HTTPS://a.example/x"}', 422),
        (b'[[{"a": {"path": " ftp://a/x"}}]]', 422),
        (b'{"path": "file:///etc/passwd"}', 422),
        (b'{"path": "/etc/passwd"}', 422),
        (b'{"data": [{"path": "app.py"}]}', 422),
        (b'{"params": {"video": "data:video/mp4;base64,AA"}}', 422),
    ],
    ids=["deep", "lists", "numbers", "text without end", "no text", "half", "surrogate", "digits",
         "address", "nested address", "file address", "file of the server", "relative path",
         "file as text"],
)  # fmt: skip
def test_invalid_request_body_is_refused_within_a_second(body, status):
    start = time.thread_time()
    with pytest.raises(RefusedError) as refused:
        checked_json(body)
    assert refused.value.status == status and time.thread_time() - start < 1.0


def test_long_text_with_many_commas_passes_the_check_of_request_bodies():
    content = {"data": ["a, [b], {c}" * 10_000, 1.5, None]}
    assert json.loads(checked_json(json.dumps(content).encode())) == content


def test_duplicate_key_in_a_request_body_keeps_only_its_last_value(cache):
    twice = f'{{"path": "http://evil.example/x", "path": "{cache}/a/b"}}'
    assert checked_json(twice.encode()) == f'{{"path": "{cache}/a/b"}}'.encode()


def test_path_in_a_request_must_be_an_upload_or_an_example(cache):
    set_static_paths(cache.parent / "clips")
    for path in (cache / "a/é b.mp4", cache.parent / "clips/a.mp4"):
        assert checked_json(json.dumps({"path": str(path)}).encode())
    for odd in ("/../x.mp4", "/" + "x/" * 600, "/a\n.mp4", "/a\x1b]0;.mp4", "/a\u2028.mp4"):
        with pytest.raises(RefusedError, match="does not belong to an upload"):
            checked_json(json.dumps({"path": f"{cache}{odd}"}).encode())


def test_number_of_files_named_in_a_request_is_limited(cache):
    """Looking a file up on disk blocks all other requests, so a request may name only a few."""
    one = {"path": str(cache / "a/b.mp4")}
    assert checked_json(json.dumps({"data": [one] * 16}).encode())
    for many in ([one] * 17, [{"video": one}] * 9):
        with pytest.raises(RefusedError, match="too many files") as refused:
            checked_json(json.dumps({"data": many}).encode())
        assert refused.value.status == 413


@pytest.mark.parametrize("key", ["session_hash", "event_id"])
def test_session_name_with_other_characters_than_letters_digits_and_hyphens_is_refused(key):
    # A session name that is no string passes this check; Gradio refuses it later.
    for plain in ("x" * 64, "0ab-1", None, 5):
        content = {key: plain, "data": ["x" * 1000]}
        assert json.loads(checked_json(json.dumps(content).encode())) == content
    for odd in ("", "x" * 65, "a<gradio-sep>b", "a\nb", "../a", "a b", "é"):
        with pytest.raises(RefusedError, match="session_hash, event_id"):
            checked_json(json.dumps({key: odd}).encode())
