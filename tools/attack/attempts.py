"""The list of attempts: what a visitor may try, and what a server that holds answers."""

from __future__ import annotations

import io
import math
from pathlib import Path
from typing import Any

from tests.server import choices, intrusions, slowness
from tests.server.oddities import believed, forms, pages, paths, saved_runs, strangers, wires
from tests.server.target import JSON, REFUSALS, ROOT, Attempt, G, Listed, Target, quiet
from tests.server.test_routes import REFUSED


def routes() -> Listed:
    for template in sorted(REFUSED):
        path = template.replace("{url_path:path}", "http://127.0.0.1:1/").replace(":path", "")
        path = path.replace("{", "").replace("}", "")
        for method in ("GET", "POST", "PUT"):
            yield "closed routes", f"{method} {path}", _refused(method, path)
    for method, path in [
        ("OPTIONS", "/"), ("DELETE", "/"), ("TRACE", "/"), ("POST", "/"), ("PUT", f"{G}/upload"),
        ("GET", "/docs"), ("GET", "/redoc"), ("GET", f"{G}/mcp/"),
    ]:  # fmt: skip
        yield "closed routes", f"{method} {path}", _refused(method, path)


def _refused(method: str, path: str) -> Attempt:
    return lambda target: target.send(method, path).status_code in REFUSALS


def recordings() -> Listed:
    playlist = b"#EXTM3U\n#EXTINF:1,\nfile:///etc/passwd\n#EXT-X-ENDLIST\n"
    for kind in ("multipart/form-data; boundary=x", "Multipart/Form-Data; boundary=x"):
        body = b'--x\r\ncontent-disposition: form-data; name="files"; filename="a.mp4"\r\n\r\n'
        body += playlist + b"\r\n--x--\r\n"

        def attempt(target: Target, kind: str = kind, body: bytes = body) -> bool:
            headers = {"content-type": kind}
            reply = target.send("POST", f"{G}/process_recording", content=body, headers=headers)
            return reply.status_code in REFUSALS and quiet(reply)

        yield "recordings", kind, attempt


def files() -> Listed:
    names = [
        "/etc/passwd", "../../../etc/passwd", "..%2f..%2fetc/passwd", "/proc/self/environ",
        "/proc/self/cmdline", "file:///etc/passwd", "app.py", str(ROOT / "app.py"), ".git/config",
        f"{ROOT}/assets/../app.py", f"{ROOT}/pyproject.toml", "http://127.0.0.1:1/x",
        "https://a.example/x", "//a.example/x", "http:%2F%2F127.0.0.1/x", "%00", "/etc/shadow",
        "~/.ssh/id_rsa", "/etc/./passwd", "/etc//passwd", "/etc/passwd%00.mp4",
        "assets/../app.py", "\\\\server\\share", "/root/.cache/huggingface/token", "/tmp", "",
        "C:\\Windows\\win.ini",
    ]  # fmt: skip
    for name in names:
        for method in ("GET", "HEAD"):

            def attempt(target: Target, method: str = method, name: str = name) -> bool:
                reply = target.send(method, f"{G}/file={name}")
                return reply.status_code in (*REFUSALS, 307) and quiet(reply)

            yield "files", f"{method} {name}", attempt


def names() -> Listed:
    evil = "evil.example"
    for headers in (
        {"host": evil, "origin": f"http://{evil}"},
        {"host": evil},
        {"host": f"127.0.0.1.{evil}"},
        {"host": f"localhost.{evil}:7860"},
        {"host": evil, "x-forwarded-host": "127.0.0.1"},
        {"x-forwarded-host": evil, "origin": f"http://{evil}"},
        {"origin": f"http://{evil}"},
        {"origin": "null"},
        {"origin": "http://["},
        {"origin": "http://127.0.0.1:1"},
        {"origin": f"http://{evil}", "forwarded": f"host={evil}"},
    ):
        for method, path in (("GET", "/config"), ("POST", f"{G}/queue/join"), ("OPTIONS", "/")):

            def attempt(
                target: Target, method: str = method, path: str = path, headers: Any = headers
            ) -> bool:
                reply = target.send(method, path, headers=headers, content=b"{}")
                shared = "access-control-allow-origin" in reply.headers
                return reply.status_code in REFUSALS and not shared

            yield "other names", f"{method} {path} {headers}", attempt


def addresses() -> Listed:
    for address in (
        "http://127.0.0.1:1/x.mp4", "HTTPS://a.example/x", " ftp://a/x", "file:///etc/passwd",
        "http://a.example/gradio_api/file=http://b.example/x", "rtsp://a/x", "concat://a|b",
    ):  # fmt: skip

        def attempt(target: Target, address: str = address) -> bool:
            reply = target.send("POST", f"{G}/queue/join", json={"data": [{"path": address}]})
            return reply.status_code == 422

        yield "addresses for files", address, attempt


def bodies() -> Listed:
    deep = b"[" * 100_000 + b"]" * 100_000
    sent = {
        "deep JSON": b'{"data": ' + deep + b"}",
        "three megabytes": b'"' + b"x" * 3_000_000 + b'"',
        "no JSON": b"\xff\xfe",
        "a list": b"[]",
        "nothing": b"",
    }
    for name, content in sent.items():
        for path in (f"{G}/queue/join", f"{G}/call/ask", f"{G}/run/predict"):

            def attempt(target: Target, path: str = path, content: bytes = content) -> bool:
                reply = target.send("POST", path, content=content, headers=JSON)
                return reply.status_code in (*REFUSALS, 500) and quiet(reply)

            yield "bodies", f"{name} to {path}", attempt


def arguments() -> Listed:
    for change in (
        {"question": None}, {"question": ["x"]}, {"question": "x" * 20_000}, {"compressor": []},
        {"compressor": "gzip"}, {"compressor": {}}, {"ratio": 0}, {"ratio": "half"}, {"ratio": -1},
        {"model": "../../etc"}, {"frames": 0}, {"frames": 10**9}, {"frames": "many"},
        {"settings": {"path": 1}}, {"settings": {"retention": []}}, {"seed": -1},
        {"temperature": 1e-320}, {"temperature": -1}, {"temperature": "hot"}, {"length": 10**9},
        {"top_p": 0}, {"pixels": -5}, {"settings": [1]}, {"settings": "ab"}, {"model": ["builtin"]},
        {"ratio": math.nan}, {"frames": True}, {"seed": 1.5}, {"length": 4.5}, {"top_p": math.nan},
    ):  # fmt: skip

        def attempt(target: Target, change: Any = change) -> bool:
            path = target.upload("clip.mp4", target.clip).json()[0]
            told = target.ask(path, **change)
            nameless = any(part in told for part in ("Traceback", "went wrong", '"error": null'))
            return "event: error" in told and not nameless

        yield "arguments", str(change)[:60], attempt


def clips() -> Listed:
    playlist = b"#EXTM3U\n#EXTINF:1,\nfile:///etc/passwd\n#EXT-X-ENDLIST\n"
    for name, content in {
        "a playlist.mp4": playlist,
        "ffconcat.mkv": b"ffconcat version 1.0\nfile /etc/passwd\n",
        "text.mp4": b"hello " * 100,
        "half.mp4": b"\x00\x00\x00\x20moov" + bytes(2000),
        "noise.mkv": b"\x1a\x45\xdf\xa3" + bytes(range(256)) * 20,
        "noise.avi": b"RIFF\x00\x00\x00\x00AVI " + bytes(range(256)) * 20,
        "noise.gif": b"GIF89a" + b"\xff" * 3000,
        "page.html": b"<script>alert(1)</script>",
        "picture.mp4": b"\x89PNG\r\n" + bytes(500),
    }.items():

        def attempt(target: Target, name: str = name, content: bytes = content) -> bool:
            path = target.upload(name, content).json()[0]
            told = target.ask(path)
            shown = target.send("GET", f"{G}/file={path}")
            inline = "html" in shown.headers.get("content-type", "")
            return "event: error" in told and "root:" not in told and not inline

        yield "clips", name, attempt
    for path in ("/etc/passwd", str(ROOT / "assets/clips/bunny.mp4"), "../x.mp4"):

        def direct(target: Target, path: str = path) -> bool:
            return "event: complete" not in target.ask(path)

        yield "clips", f"not uploaded: {path}", direct


def uploads() -> Listed:
    for name in (
        "../../x.mp4",
        "/etc/cron.d/x",
        "..\\x.mp4",
        "a\r\nb.mp4",
        "x" * 5000,
        "CON",
        "..",
    ):

        def attempt(target: Target, name: str = name) -> bool:
            reply = target.send("POST", f"{G}/upload", files={"files": (name, io.BytesIO(b"x"))})
            if reply.status_code != 200:
                return reply.status_code in (*REFUSALS, 500)
            return ".." not in Path(reply.json()[0]).parts and "cron.d" not in reply.json()[0]

        yield "uploads", name[:40], attempt

    def endless(target: Target) -> bool:
        head = f"POST {G}/upload HTTP/1.1\r\nhost: localhost\r\ncontent-length: 99999999999999\r\n"
        with target.line(
            head.encode() + b"content-type: multipart/form-data; boundary=x\r\n\r\n"
        ) as line:
            return line.recv(12) in (b"HTTP/1.1 413", b"HTTP/1.1 507")

    yield "uploads", "a hundred terabytes", endless


def everything() -> Listed:
    """Kind, name and attempt, the slow ones last."""
    for part in (
        routes, recordings, files, names, addresses, bodies, forms, wires, paths, pages, believed,
        uploads, clips, arguments, saved_runs, strangers, intrusions.everything,
        choices.everything, slowness.everything,
    ):  # fmt: skip
        yield from part()
