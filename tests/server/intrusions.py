"""Attempts of somebody who has read how Gradio works inside."""

from __future__ import annotations

import json
from typing import Any

from tests.server.target import JSON, REFUSALS, G, Listed, Target, quiet


def odd_hosts() -> Listed:
    """Hosts that one reader takes for this server and another for something else."""
    for host in (
        b"localhost/evil.example", b"localhost?evil", b"localhost#evil", b"user@localhost",
        b"lo\tcalhost", b'localhost"><script>', b"localhost:80:90", b"localhost:http",
        b"localhost,evil.example", b"localhost\\evil.example", b"127.1", b"0x7f000001",
        b"2130706433", b"localhost%00.evil.example", b"[::1%25eth0]", b"",
    ):  # fmt: skip

        def attempt(target: Target, host: bytes = host) -> bool:
            head = b"GET /config HTTP/1.1\r\nconnection: close\r\nhost: " + host + b"\r\n\r\n"
            with target.line(head) as line:
                return line.recv(12) == b"HTTP/1.1 400"

        yield "odd hosts", host.decode("latin-1"), attempt


def names() -> Listed:
    """What Gradio keeps, or takes apart again, under the name that a visitor gave."""
    for field in ("session_hash", "event_id"):
        for name in ("a<gradio-sep>b", "", "x" * 65, "x" * 200_000, "../x", "a\nb", "é", "a b"):
            for route in ("queue/join", "cancel", "run/predict"):
                body = {"data": [], "fn_index": 0, "session_hash": "x", "event_id": "y"}
                yield (
                    "names",
                    f"{route} {field} {name[:20]!r}",
                    _refused(route, body | {field: name}),
                )
    for route in ("upload", "upload_progress"):

        def progress(target: Target, route: str = route) -> bool:
            method = "POST" if route == "upload" else "GET"
            reply = target.send(method, f"{G}/{route}", params={"upload_id": "x" * 20_000})
            return reply.status_code in REFUSALS

        yield "names", f"{route} of a long name", progress


def _refused(route: str, body: Any) -> Any:
    return lambda target: target.send("POST", f"{G}/{route}", json=body).status_code in REFUSALS


def encodings() -> Listed:
    """JSON and forms in encodings that hide what stands in them."""
    lists = '["\u0122",' + "[]," * 30_000 + "0]"
    address = json.dumps({"data": [{"path": "http://evil.example/x"}], "session_hash": "x"})
    for coding in ("utf-16", "utf-16-be", "utf-32", "utf-8-sig"):
        for name, text in (("brackets", lists), ("an address", address)):
            content = text.encode(coding)

            def attempt(target: Target, content: bytes = content) -> bool:
                reply = target.send("POST", f"{G}/queue/join", content=content, headers=JSON)
                return reply.status_code in REFUSALS

            yield "encodings", f"{name} in {coding}", attempt
    for content in (b'{"data": ["\\ud800"]}', b'{"data": [' + b"9" * 5000 + b"]}"):
        yield "encodings", content[:20].decode(), _body(content)
    body = b'--x\r\ncontent-disposition: form-data; name="files"; filename="a"\r\n\r\nx\r\n--x--'
    for coding in ("punycode", "undefined", "unicode_escape", "utf-16", "utf-7", "base64"):
        kind = {"content-type": f"multipart/form-data; boundary=x; charset={coding}"}

        def form(target: Target, kind: Any = kind) -> bool:
            reply = target.send("POST", f"{G}/upload", content=body, headers=kind)
            return reply.status_code in REFUSALS

        yield "encodings", f"a form in {coding}", form


def _body(content: bytes) -> Any:
    def attempt(target: Target) -> bool:
        reply = target.send("POST", f"{G}/call/ask", content=content, headers=JSON)
        return reply.status_code in REFUSALS

    return attempt


def inner_events() -> Listed:
    """Events of the page, called by the names of their functions."""
    for name in (
        "on_open",
        "on_preview",
        "on_load",
        "lambda",
        "_",
        "predict",
        "nothing",
        "ask/ask",
    ):
        for version in ("call", "call/v2"):
            yield "events by name", f"{version}/{name}", _refused(f"{version}/{name}", {"data": []})


def long_names() -> Listed:
    for path in ("/static/", "/assets/", f"{G}/file=/tmp/", f"{G}/file=", f"{G}/heartbeat/"):
        for name in ("x" * 256, "x" * 20_000, "%C3%A9" * 128):

            def attempt(target: Target, path: str = path + name) -> bool:
                reply = target.send("GET", path)
                return reply.status_code in REFUSALS and quiet(reply)

            yield "long names", f"{path}{name[:6]} x {len(name)}", attempt


def kept_files() -> Listed:
    """Uploads that a browser would run or show as a page of this server."""
    for name in (
        "a.js",
        "a.mjs",
        "a.svg",
        "a.html",
        "a.xhtml",
        "a.xml",
        "a.css",
        "a.pdf",
        "a.wasm",
    ):

        def attempt(target: Target, name: str = name) -> bool:
            path = target.upload(name, b"<script>alert(1)</script>").json()[0]
            reply = target.send("GET", f"{G}/file={path}")
            away = reply.headers["content-disposition"].startswith("attachment")
            return away and reply.headers["x-content-type-options"] == "nosniff"

        yield "uploads shown", name, attempt

    def lock(target: Target) -> bool:
        folder = target.upload("a.mp4", b"x").json()[0].rpartition("/")[0].rpartition("/")[0]
        reply = target.send("GET", f"{G}/file={folder}/.lock")
        return reply.status_code in REFUSALS

    yield "uploads shown", "the lock of the server", lock


def everything() -> Listed:
    for part in (odd_hosts, names, encodings, inner_events, long_names, kept_files):
        yield from part()
