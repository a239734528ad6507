"""Attempts with requests that no browser makes, and on what belongs to other visitors."""

from __future__ import annotations

import tempfile
import time
from pathlib import Path
from typing import Any

from gleanvid.video.isolation import bounds
from tests.server.target import REFUSALS, ROOT, SECRETS, G, Listed, Target, quiet
from tests.server.test_saved_run import BOMBS, bomb, packed


def forms() -> Listed:
    part = b'--x\r\ncontent-disposition: form-data; name="files"%s\r\n\r\nx\r\n'
    sent = {
        "a field": part % b"",
        "a field of a megabyte": part % b"" + b"y" * 2**20,
        "a field behind a file": part % b'; filename="a.mp4"' + part % b"",
        "five files": part % b'; filename="a.mp4"' * 5,
        "no form": b"{}",
        "no end of a boundary": b"--" + b"x" * 500,
    }
    for name, body in sent.items():

        def attempt(target: Target, body: bytes = body) -> bool:
            kind = {"content-type": "multipart/form-data; boundary=x"}
            reply = target.send("POST", f"{G}/upload", content=body + b"--x--", headers=kind)
            return reply.status_code in REFUSALS

        yield "forms", name, attempt


def wires() -> Listed:
    """Bytes that are no plain request, and must not be understood in two ways."""
    host, chunked = b"host: localhost\r\n", b"transfer-encoding: chunked\r\n"
    long = b"content-length: 4\r\n"
    post = b"POST /gradio_api/upload HTTP/1.1\r\n" + host
    for name, begun in {
        "two lengths": post + long + chunked + b"\r\n0\r\n\r\n",
        "two different lengths": post + long + b"content-length: 5\r\n\r\n{}{}",
        "a folded length": post + b"content-length:\r\n 4\r\n" + chunked + b"\r\n0\r\n\r\n",
        "an odd coding": post + b"transfer-encoding: xchunked\r\n\r\n0\r\n\r\n",
        "a coding twice": post + chunked + chunked + b"\r\n0\r\n\r\n",
        "a space before the colon": post + b"content-length : 4\r\n\r\n{}{}",
        "a negative length": post + b"content-length: -4\r\n\r\n{}{}",
        "two hosts": b"GET /config HTTP/1.1\r\n" + host + b"host: evil.example\r\n\r\n",
        "no host": b"GET /config HTTP/1.1\r\n\r\n",
        "an old version": b"GET /config HTTP/1.0\r\nhost: evil.example\r\n\r\n",
        "a NUL in a header": b"GET / HTTP/1.1\r\n" + host + b"x: a\x00b\r\n\r\n",
        "no version": b"GET /config\r\n\r\n",
        "another server's address": b"GET http://evil.example/ HTTP/1.1\r\n" + host + b"\r\n",
        "a tunnel": b"CONNECT 127.0.0.1:22 HTTP/1.1\r\n" + host + b"\r\n",
        "no address": b"GET * HTTP/1.1\r\n" + host + b"\r\n",
        "a length of a chunk with a sign": post + chunked + b"\r\n-1\r\n\r\n",
    }.items():

        def attempt(target: Target, begun: bytes = begun) -> bool:
            with target.line(b"") as line:
                line.settimeout(5)
                try:
                    line.sendall(begun)
                    told = line.recv(2**16)
                except ConnectionError:
                    told = b""
            return told == b"" or told.startswith(b"HTTP/1.1 4")

        yield "odd requests", name, attempt


def paths() -> Listed:
    """Addresses as they are, which a client would tidy."""
    for path in (
        "/static/../../app.py", "/static/%2e%2e/%2e%2e/%2e%2e/etc/passwd", "/static//etc/passwd",
        "/assets/..%2f..%2f..%2f..%2f..%2fetc/passwd", "/assets/..%5c..%5capp.py",
        "/static/....//....//etc/passwd", "/assets/%00", "//etc/passwd", "/./config/../config",
        "/config/", "/config;x", "/CONFIG", "/gradio_api/../config", "/gradio_api//queue/join",
        "/gradio_api/file=..", "/gradio_api/file=%2e%2e/%2e%2e/etc/passwd", "/%67radio_api/user",
        "/gradio_api/run/../component_server", "/gradio_api%2fcomponent_server", "/?view=api/../..",
    ):  # fmt: skip
        for method in ("GET", "POST", "HEAD"):

            def attempt(target: Target, method: str = method, path: str = path) -> bool:
                head = f"{method} {path} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n"
                with target.line(head.encode() + b"content-length: 0\r\n\r\n") as line:
                    told = b"".join(iter(lambda: line.recv(2**16), b""))
                return not any(secret in told for secret in SECRETS) and b" 50" not in told[:16]

            yield "odd paths", f"{method} {path}", attempt


def pages() -> Listed:
    """What no widget of the page can send."""
    for name, clip in {
        "a file of the system": "/etc/passwd",
        "a file of the server": str(ROOT / "app.py"),
        "an example by its path": str(ROOT / "assets" / ".." / "app.py"),
        "an address": "http://127.0.0.1:1/x.mp4",
        "nothing": "",
    }.items():

        def look(target: Target, clip: str = clip) -> bool:
            file = {"path": clip, "meta": {"_type": "gradio.FileData"}}
            told = target.page("gv-late", "change", {"gv-clip": file})
            return "Used" not in told and quiet_text(told)

        yield "the page", f"clip: {name}", look
    for model in ("evil/model", "../../etc", "", None, ["builtin"], {"path": "/etc"}):

        def load(target: Target, model: Any = model) -> bool:
            told = target.page("gv-late", "change", {"Model": model})
            return "evil" not in told or "choices" in told or '"success":false' in told

        yield "the page", f"model: {model}", load

    for given in (None, [], {}, "x", 5, [1], [None] * 500, {"a": [1]}, "[" * 5000, [[[[]]]] * 90):

        def gathered(target: Target, given: Any = given) -> bool:
            told = target.page("gv-refresh", "click", {"gathered": given})
            refused = "could not be read" in told or '"error":null' in told.replace(" ", "")
            return '"success":false' in told and refused and quiet_text(told)

        yield "the page", f"gathered settings: {str(given)[:20]}", gathered


def quiet_text(told: str) -> bool:
    return not any(secret in told.encode() for secret in SECRETS)


def believed() -> Listed:
    def root(target: Target) -> bool:
        headers = {"x-gradio-server": "http://evil.example"}
        return "evil" not in target.send("GET", "/config", headers=headers).text

    yield "headers believed", "x-gradio-server", root

    def mirror(target: Target) -> bool:
        path = target.upload("clip.mp4", target.clip).json()[0]
        headers = {"range": "bytes=0-9", "set-cookie": "a=b", "x-own": "c", "location": "d"}
        reply = target.send("GET", f"{G}/file={path}", headers=headers)
        told = {"set-cookie", "x-own", "location"} & set(reply.headers)
        return reply.status_code == 206 and not told and len(reply.content) == 10

    yield "headers believed", "of a request for a part of a file", mirror
    for value in (
        "bytes=9-1",
        "bytes=0-9-8",
        "bytes=" + "0-1," * 5000,
        "bytes=99999999-",
        "bytes=²-³",
    ):

        def part(target: Target, value: str = value) -> bool:
            path = target.upload("clip.mp4", target.clip).json()[0]
            headers = {"range": value.encode()}
            reply = target.send("GET", f"{G}/file={path}", headers=headers)
            return reply.status_code in (200, 206, 416) and len(reply.content) <= len(target.clip)

        yield "headers believed", f"range {value[:20]}", part

    def upgraded(target: Target) -> bool:
        asked = (
            b"GET / HTTP/1.1\r\nhost: localhost\r\nconnection: upgrade\r\nupgrade: websocket\r\n"
        )
        asked += b"sec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\nsec-websocket-version: 13\r\n\r\n"
        with target.line(asked) as line:
            return not line.recv(12).endswith(b"101")

    yield "headers believed", "an upgrade to WebSockets", upgraded


def saved_runs() -> Listed:
    for name in BOMBS:

        def attempt(target: Target, name: str = name) -> bool:
            with tempfile.TemporaryDirectory() as folder:
                content = packed(Path(folder) / "run.zip", *bomb(name)).read_bytes()
            start = time.monotonic()
            told = target.open_run(target.upload("run.zip", content).json()[0])
            refused = bounds.TOO_LARGE in told or bounds.NO_RUN in told
            return refused and time.monotonic() - start < 20

        yield "saved runs", name, attempt


def strangers() -> Listed:
    """What one visitor has is nobody else's."""

    for session in ("", "x", "../x", "a" * 50_000, "%00"):

        def waiting(target: Target, session: str = session) -> bool:
            told = target.events(f"{G}/queue/data", params={"session_hash": session})
            return '"success":true' not in told and '"output"' not in told

        yield "sessions", f"session {session[:20]}", waiting
    for event in ("x", "x" * 50_000, "%2e%2e", "0", "null", "a/b"):

        def fetch(target: Target, event: str = event) -> bool:
            told = target.events(f"{G}/call/ask/{event}")
            return "event: complete" not in told and "root:" not in told

        yield "sessions", f"event {event[:20]}", fetch
    for body in ({"session_hash": "x", "fn_index": 0, "event_id": "y"}, {}, {"event_id": None}):

        def cancel(target: Target, body: Any = body) -> bool:
            return target.send("POST", f"{G}/cancel", json=body).status_code in (200, *REFUSALS)

        yield "sessions", f"cancel {body}", cancel
    for change in ({"session_hash": None}, {"fn_index": -1}, {"fn_index": 10**30}, {"data": None}):

        def join(target: Target, change: Any = change) -> bool:
            body = {"data": [], "fn_index": 0, "session_hash": "x"} | change
            return quiet(target.send("POST", f"{G}/queue/join", json=body))

        yield "sessions", f"join {change}", join
