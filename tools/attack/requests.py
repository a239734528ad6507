"""Expected answers of a secure server to each attempt."""

from __future__ import annotations

import io
import socket
import time
import zipfile
from collections.abc import Iterator
from contextlib import ExitStack
from functools import partial
from itertools import chain, product
from operator import methodcaller
from pathlib import Path
from typing import Any

from tools.attack import attempts as data
from tools.attack.client import ARGUMENTS, CLIP, JSON, G, Target, file
from tools.attack.judging import REFUSALS, UNSAID, Attempt, refused, reply, wire

FORM = "multipart/form-data; boundary=x"


def routes() -> Iterator[Attempt]:
    for template in data.CLOSED:
        path = template.replace("{url_path:path}", "http://127.0.0.1:1/").replace(":path", "")
        for method in ("GET", "POST", "PUT"):
            yield refused("closed routes", method, path.replace("{", "").replace("}", ""))
    for entry in data.METHODS:
        yield refused("closed routes", *entry.split())
    for name, version in product(data.INNER_EVENTS, ("call", "call/v2")):
        yield refused("events by name", "POST", f"{G}/{version}/{name}", json={"data": []})
    for path in data.LONG_NAMES:
        yield refused("long names", "GET", path)
    for name, method in product(data.FILES, ("GET", "HEAD")):
        yield refused("files", method, f"{G}/file={name}")
    for headers in data.NAMES:
        yield refused("other names", "GET", "/config", headers=headers)
        yield refused("other names", "OPTIONS", "/", headers=headers)
        yield refused("other names", "POST", f"{G}/queue/join", headers=headers, content=b"{}")
    for page in data.PAGES:
        yield refused("odd pages", "GET", f"/?page={page}")
    for host in data.HOSTS:
        yield wire("odd hosts", b"GET /config HTTP/1.1\r\nhost: " + host + b"\r\n\r\n")


def bodies() -> Iterator[Attempt]:
    join = f"{G}/queue/join"
    for address in data.ADDRESSES:
        yield refused("addresses for files", "POST", join, json={"data": [{"path": address}]})
    for content, path in product(data.BODIES, ("queue/join", "call/ask", "run/predict")):
        yield refused("bodies", "POST", f"{G}/{path}", headers=JSON, content=content)
    for content in data.ENCODED:
        yield refused("encodings", "POST", join, headers=JSON, content=content)
    body = {"data": [], "fn_index": 0, "session_hash": "x", "event_id": "y"}
    for session, field in product(data.SESSION_NAMES, ("session_hash", "event_id")):
        for path in ("queue/join", "cancel", "run/predict"):
            yield refused("names", "POST", f"{G}/{path}", json=body | {field: session})
    for method, path in (("POST", "upload"), ("GET", "upload_progress")):
        yield refused("names", method, f"{G}/{path}", params={"upload_id": "x" * 20_000})


def uploads() -> Iterator[Attempt]:
    for content in data.FORMS:
        options: Any = {"content": content + b"--x--", "headers": {"content-type": FORM}}
        yield refused("forms", "POST", f"{G}/upload", **options)
    for coding in data.FORM_CODINGS:
        options = {"content": data.FORM, "headers": {"content-type": f"{FORM}; charset={coding}"}}
        yield refused("forms", "POST", f"{G}/upload", **options)
    for begun in data.WIRES:
        yield wire("odd requests", begun)
    for path, method in product(data.PATHS, ("GET", "POST", "HEAD")):
        begun = f"{method} {path} HTTP/1.1\r\nhost: localhost\r\ncontent-length: 0\r\n\r\n"
        yield wire("odd paths", begun.encode(), b"HTTP/1.1 2", b"HTTP/1.1 3")
    for name in data.UPLOAD_NAMES:
        yield "uploads", name[:60], partial(_is_named_safely, name=name)
    for name in data.SCRIPTS:
        yield "uploads", f"shows {name}", partial(_is_download, name=name)
    for name in data.OWN_FILES:
        yield "uploads", f"fetches {name}", partial(_is_own_file_closed, name=name)


def _is_named_safely(target: Target, name: str) -> bool:
    reply = target.send("POST", f"{G}/upload", files={"files": (name, b"x")})
    if reply.status_code != 200:
        return reply.status_code in (*REFUSALS, 500)
    return ".." not in Path(reply.json()[0]).parts and "cron.d" not in reply.json()[0]


def _is_download(target: Target, name: str) -> bool:
    """Return whether the headers of an upload make a browser download it, not run or show it."""
    reply = target.send("GET", f"{G}/file={target.upload(name, b'<script>alert(1)</script>')}")
    away = reply.headers["content-disposition"].startswith("attachment")
    return away and reply.headers["x-content-type-options"] == "nosniff"


def _is_own_file_closed(target: Target, name: str) -> bool:
    """Return whether the server refuses to send its own file ``name`` in the folder of uploads."""
    folder = Path(target.upload("a.mp4", b"x")).parents[1]
    return target.send("GET", f"{G}/file={folder}/{name}").status_code in REFUSALS


def headers() -> Iterator[Attempt]:
    """Return attempts with headers that Gradio trusts or echoes."""
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
    for name in data.NO_UPLOADS:

        def inside(target: Target, name: str = name) -> str:
            return target.ask(f"{Path(target.clip).parents[1]}/{name}")

        yield reply("clips", f"no upload: {name}", inside, "event: complete", *UNSAID)
    for change in data.ARGUMENTS:
        act = methodcaller("ask", **change)
        yield reply("arguments", str(change), act, *UNSAID, has="event: error")
    for count in data.COUNTS:
        act = methodcaller("call", [None, *ARGUMENTS.values()][:count])
        yield reply("arguments", f"{count} values", act, *UNSAID, has="event: error")
    for named, endpoint in product(data.NAMED, ("ask", "compress", "compare")):
        yield refused("arguments", "POST", f"{G}/call/v2/{endpoint}", json=named)
    for name, text in data.BOMBS.items():

        def opened(target: Target, text: bytes = text) -> str:
            path = target.upload("run.zip", packed(text))
            return target.page("gv-open", "upload", {"gv-open": file(path)})

        yield reply("saved runs", name, opened, "opened as", has="saved")


def packed(text: bytes) -> bytes:
    """Return a ZIP archive with the two files of a saved run."""
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("run.json", text)
        archive.writestr("run.npz", b"")
    return content.getvalue()


def pages() -> Iterator[Attempt]:
    """Return attempts to read the server's folders or to send values that no widget allows."""
    for path in data.SHOWN:
        yield reply("the folder of the server", path, methodcaller("text", path))
    for model in data.MODELS:
        load = methodcaller("page", "gv-preview", "follow", {"Model": model})
        yield reply("the page", f"model: {model}", load, "evil is ready")
    for given in data.GATHERED:
        send = methodcaller("page", "gv-preview", "click", {"gathered": given})
        yield reply("the page", f"gathered settings: {given}", send, has='"success":false')
    for name in data.CHECKPOINTS:

        def choose(target: Target, name: str = name) -> str:
            if "'Checkpoint'" not in str(target.config):
                return ""  # this server offers no choice of models
            return target.page("Load", "click", {"Checkpoint": name})

        yield reply("choosing", f"load {name!r}", choose, "is ready", "went wrong")

    for text in data.TIMES:
        clip = {"gv-clip": file(str(CLIP)), "From": text}
        look = methodcaller("page", "gv-preview", "follow", clip)
        yield reply("the page", f"from {text}", look, "Used")
    for number, junk in enumerate(data.JUNK):
        yield reply(
            "the page",
            f"junk {number}",
            methodcaller("junk", junk, number, len(data.JUNK)),
            *UNSAID,
        )


def sessions() -> Iterator[Attempt]:
    """Return attempts to reach sessions and files of other visitors."""
    for session in data.SESSIONS:
        wait = methodcaller("events", f"{G}/queue/data", params={"session_hash": session})
        yield reply("sessions", f"session {session}", wait, '"success":true', '"output"')
    for event in data.EVENTS:
        fetch = methodcaller("events", f"{G}/call/ask/{event}")
        yield reply("sessions", f"event {event}", fetch, "event: complete")
    for path, body in data.CANCELS:
        send = methodcaller("text", f"{G}/{path}", "POST", json=body)
        yield reply("sessions", f"{path} {body}", send)


def _are_slow_clients_ended(target: Target) -> bool:
    """Whether /healthz is answered in a second while clients stall; a busy machine has 3 tries."""
    return any(_is_prompt_and_ends_slow_clients(target) for _ in range(3))


def _is_prompt_and_ends_slow_clients(target: Target) -> bool:
    with ExitStack() as stack:
        opened = [stack.enter_context(target.connect(begun)) for begun in data.UNFINISHED * 20]
        start = time.monotonic()
        is_prompt = target.send("GET", "/healthz").is_success and time.monotonic() - start < 1.0
        return is_prompt and all(_is_ended(line, start + 30) for line in opened)


def _is_ended(line: socket.socket, end: float) -> bool:
    line.settimeout(max(0.01, end - time.monotonic()))
    try:
        return line.recv(1) in (b"", b"H")  # "H" begins an answer such as HTTP/1.1 408
    except (ConnectionError, TimeoutError) as error:
        return isinstance(error, ConnectionError)


def everything() -> list[Attempt]:
    """Return all attempts, the slow ones last."""
    parts = (routes, bodies, uploads, headers, clips, pages, sessions)
    slow = "slow clients", "60 clients that stop sending", _are_slow_clients_ended
    return [*chain.from_iterable(part() for part in parts), slow]
