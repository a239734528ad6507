"""What a server that holds answers to each of the attempts."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Callable, Iterator
from functools import partial
from operator import methodcaller
from pathlib import Path
from typing import Any

from tools.attack import attempts as data
from tools.attack.client import CLIP, JSON, G, Target, file, is_quiet

REFUSALS = range(400, 500)
Attempt = tuple[str, str, Callable[[Target], bool]]  # kind, name, whether a server holds
FORM = {"content-type": "multipart/form-data; boundary=x"}


def refused(kind: str, name: str, method: str, path: str, **options: Any) -> Attempt:
    """A request that has to be refused without a word about this machine."""

    def is_held(target: Target) -> bool:
        reply = target.send(method, path, **options)
        shared = "access-control-allow-origin" in reply.headers
        return reply.status_code in REFUSALS and is_quiet(reply.content) and not shared

    return kind, name, is_held


def wire(kind: str, name: str, begun: bytes, *starts: bytes) -> Attempt:
    """Bytes that have to be refused, or answered with one of these starts."""

    def is_held(target: Target) -> bool:
        try:
            with target.connect(begun) as line:
                line.settimeout(5)
                reply = line.recv(2**16)
        except ConnectionError:
            reply = b""
        expected = (b"HTTP/1.1 4", b"HTTP/1.1 507", *starts)
        return not reply or (reply.startswith(expected) and is_quiet(reply))

    return kind, name, is_held


def reply(
    kind: str, name: str, act: Callable[[Target], str], *lacks: str, has: str = ""
) -> Attempt:
    """An act whose reply has to hold one text, others not, and nothing of this machine."""

    def is_held(target: Target) -> bool:
        text = act(target)
        return has in text and is_quiet(text.encode()) and not any(part in text for part in lacks)

    return kind, name, is_held


def routes() -> Iterator[Attempt]:
    for template in data.CLOSED:
        path = template.replace("{url_path:path}", "http://127.0.0.1:1/").replace(":path", "")
        path = path.replace("{", "").replace("}", "")
        for method in ("GET", "POST", "PUT"):
            yield refused("closed routes", f"{method} {path}", method, path)
    for method, path in data.METHODS:
        yield refused("closed routes", f"{method} {path}", method, path)
    for name in data.INNER_EVENTS:
        for version in ("call", "call/v2"):
            path = f"{G}/{version}/{name}"
            yield refused("events by name", path, "POST", path, json={"data": []})
    for path in data.LONG_NAMES:
        yield refused("long names", f"{path[:30]} x {len(path)}", "GET", path)
    for name in data.FILES:
        for method in ("GET", "HEAD"):
            yield refused("files", f"{method} {name}", method, f"{G}/file={name}")
    for headers in data.NAMES:
        for method, path in (("GET", "/config"), ("POST", f"{G}/queue/join"), ("OPTIONS", "/")):
            name = f"{method} {path} {headers}"
            yield refused("other names", name, method, path, headers=headers, content=b"{}")
    for host in data.HOSTS:
        head = b"GET /config HTTP/1.1\r\nconnection: close\r\nhost: " + host + b"\r\n\r\n"
        yield wire("odd hosts", host.decode("latin-1"), head)


def bodies() -> Iterator[Attempt]:
    join = "POST", f"{G}/queue/join"
    for address in data.ADDRESSES:
        yield refused("addresses for files", address, *join, json={"data": [{"path": address}]})
    for name, content in data.BODIES.items():
        for path in ("queue/join", "call/ask", "run/predict"):
            options: Any = {"content": content, "headers": JSON}
            yield refused("bodies", f"{name} to {path}", "POST", f"{G}/{path}", **options)
    for name, content in data.ENCODED.items():
        yield refused("encodings", name, *join, content=content, headers=JSON)
    body = {"data": [], "fn_index": 0, "session_hash": "x", "event_id": "y"}
    for session in data.SESSION_NAMES:
        for field in ("session_hash", "event_id"):
            for path in ("queue/join", "cancel", "run/predict"):
                name = f"{path} {field} {session[:20]!r}"
                yield refused("names", name, "POST", f"{G}/{path}", json=body | {field: session})
    long = {"upload_id": "x" * 20_000}
    for method, path in (("POST", "upload"), ("GET", "upload_progress")):
        yield refused("names", f"{path} of a long name", method, f"{G}/{path}", params=long)


def uploads() -> Iterator[Attempt]:
    upload = "POST", f"{G}/upload"
    for name, content in data.FORMS.items():
        yield refused("forms", name, *upload, content=content + b"--x--", headers=FORM)
    content = data.PART % b'; filename="a.mp4"' + b"--x--"
    for coding in data.FORM_CODINGS:
        headers = {"content-type": f"multipart/form-data; boundary=x; charset={coding}"}
        yield refused("forms", f"in {coding}", *upload, content=content, headers=headers)
    for name, begun in data.WIRES.items():
        yield wire("odd requests", name, begun)
    for path in data.PATHS:
        for method in ("GET", "POST", "HEAD"):
            head = f"{method} {path} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n"
            begun = head.encode() + b"content-length: 0\r\n\r\n"
            yield wire("odd paths", f"{method} {path}", begun, b"HTTP/1.1 2", b"HTTP/1.1 3")
    for name in data.UPLOAD_NAMES:
        yield "uploads", name[:40], partial(_is_named_safely, name=name)
    for name in data.SCRIPTS:
        yield "uploads", f"shows {name}", partial(_is_download, name=name)
    yield "uploads", "the lock of the server", _is_lock_closed


def _is_named_safely(target: Target, name: str) -> bool:
    reply = target.send("POST", f"{G}/upload", files={"files": (name, b"x")})
    if reply.status_code != 200:
        return reply.status_code in (*REFUSALS, 500)
    return ".." not in Path(reply.json()[0]).parts and "cron.d" not in reply.json()[0]


def _is_download(target: Target, name: str) -> bool:
    """Whether a browser neither runs an upload nor shows it as a page of this server."""
    reply = target.send("GET", f"{G}/file={target.upload(name, b'<script>alert(1)</script>')}")
    away = reply.headers["content-disposition"].startswith("attachment")
    return away and reply.headers["x-content-type-options"] == "nosniff"


def _is_lock_closed(target: Target) -> bool:
    folder = Path(target.upload("a.mp4", b"x")).parents[1]
    return target.send("GET", f"{G}/file={folder}/.lock").status_code in REFUSALS


def headers() -> Iterator[Attempt]:
    """Attempts with headers that Gradio believes, or sends back."""
    server = methodcaller("text", "/config", headers={"x-gradio-server": f"http://{data.EVIL}"})
    yield reply("headers believed", "x-gradio-server", server, "evil")
    for value in data.RANGES:
        yield "headers believed", f"range {value[:20]}", partial(_is_part, value=value)


def _is_part(target: Target, value: str) -> bool:
    sent = {"range": value.encode(), "set-cookie": "a=b", "x-own": "c", "location": "d"}
    got = target.send("GET", f"{G}/file={target.clip}", headers=sent)
    mirrored = {"set-cookie", "x-own", "location"} & got.headers.keys()
    small = len(got.content) <= CLIP.stat().st_size
    return got.status_code in (200, 206, 416) and small and not mirrored


def clips() -> Iterator[Attempt]:
    for name, content in data.CLIPS.items():

        def asked(target: Target, name: str = name, content: bytes = content) -> str:
            path = target.upload(name, content)
            kind = target.send("GET", f"{G}/file={path}").headers.get("content-type", "")
            return f"{target.ask(path)} {kind}"

        yield reply("clips", name, asked, "text/html", has="event: error")
    for path in data.NOT_UPLOADED:
        look = methodcaller("page", "gv-preview", "follow", {"gv-clip": file(path)})
        yield reply("clips", f"not uploaded: {path}", methodcaller("ask", path), "event: complete")
        yield reply("the page", f"not uploaded: {path}", look, "Used")
    for change in data.ARGUMENTS:
        act, lacks = methodcaller("ask", **change), ("Traceback", "went wrong", '"error": null')
        yield reply("arguments", str(change)[:60], act, *lacks, has="event: error")
    for name, text in data.BOMBS.items():

        def opened(target: Target, text: bytes = text) -> str:
            path = target.upload("run.zip", packed(text))
            return target.page("gv-open", "upload", {"gv-open": file(path)})

        yield reply("saved runs", name, opened, has="saved run")


def packed(text: bytes, arrays: bytes = b"") -> bytes:
    """An archive with the two files of a saved run."""
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("run.json", text)
        archive.writestr("run.npz", arrays)
    return content.getvalue()


def pages() -> Iterator[Attempt]:
    """Attempts with what no widget of the page can send."""
    for model in data.MODELS:
        load = methodcaller("page", "gv-preview", "follow", {"Model": model})
        yield reply("the page", f"model: {model}", load, "evil is ready")
    for given in data.GATHERED:
        send = methodcaller("page", "gv-preview", "click", {"gathered": given})
        yield reply(
            "the page", f"gathered settings: {str(given)[:20]}", send, has='"success":false'
        )
    for name in data.CHECKPOINTS:

        def choose(target: Target, name: str = name) -> str:
            if "'Checkpoint'" not in str(target.config):
                return ""  # a server without a choice of models
            return target.page("Load", "click", {"Checkpoint": name})

        yield reply("choosing", f"load {name[:30]!r}", choose, "is ready", "went wrong")


def sessions() -> Iterator[Attempt]:
    """Attempts on what belongs to other visitors."""
    for session in data.SESSIONS:
        wait = methodcaller("events", f"{G}/queue/data", params={"session_hash": session})
        yield reply("sessions", f"session {session[:20]}", wait, '"success":true', '"output"')
    for event in data.EVENTS:
        fetch = methodcaller("events", f"{G}/call/ask/{event}")
        yield reply("sessions", f"event {event[:20]}", fetch, "event: complete")
    joined = {"data": [], "fn_index": 0, "session_hash": "x"}
    bodies = [("cancel", body) for body in data.CANCELS]
    bodies += [("queue/join", joined | change) for change in data.JOINS]
    for path, body in bodies:
        send = methodcaller("text", f"{G}/{path}", "POST", json=body)
        yield reply("sessions", f"{path} {body}", send)


def everything() -> Iterator[Attempt]:
    for part in (routes, bodies, uploads, headers, clips, pages, sessions):
        yield from part()
