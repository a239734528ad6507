"""A server that is attacked, and one visitor of it."""

from __future__ import annotations

import json
import secrets
import socket
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import cached_property
from pathlib import Path
from types import TracebackType
from typing import Any, Self
from urllib.parse import urlsplit

import httpx

from tests.components.fake import write_clip

G = "/gradio_api"
ROOT = Path(__file__).resolve().parents[2]
SECRETS = (b"root:x:", b"from __future__", b"[project]", b"BEGIN ")
REFUSALS = range(400, 500)

Attempt = Callable[["Target"], bool]
Listed = Iterator[tuple[str, str, Attempt]]


class Target:
    """A server and one visitor of it, who waits where he asks too often."""

    def __init__(self, url: str) -> None:
        limits = httpx.Limits(max_keepalive_connections=0)
        self.url, self.client = url, httpx.Client(base_url=url, timeout=60, limits=limits)
        self.clip = b""

    def __enter__(self) -> Self:
        with tempfile.TemporaryDirectory() as folder:
            write_clip(Path(folder) / "clip.mp4")
            self.clip = (Path(folder) / "clip.mp4").read_bytes()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.client.close()

    @cached_property
    def config(self) -> Any:
        """What the page is made of; the same at every look."""
        return self.send("GET", "/config").json()

    def send(self, method: str, path: str, **options: Any) -> httpx.Response:
        for _ in range(20):
            reply = self.client.request(method, path, **options)
            if reply.status_code != 429:
                return reply
            time.sleep(1.0)
        return reply

    def events(self, path: str, **options: Any) -> str:
        """What a stream of events tells until it ends, in order or not."""
        told = b""
        with suppress(httpx.RemoteProtocolError), self.client.stream("GET", path, **options) as got:
            for part in got.iter_bytes():
                told += part
        return told.decode()

    def upload(self, name: str, content: bytes) -> httpx.Response:
        return self.send("POST", f"{G}/upload", files={"files": (name, content)})

    def ask(self, path: str, endpoint: str = "ask", **changes: Any) -> str:
        """The words of an endpoint's answer or error."""
        given = {
            "question": "What?", "compressor": "uniform", "ratio": 0.25, "model": "", "frames": 4,
            "settings": None, "seed": 0, "temperature": 0.0, "length": 4, "top_p": 1.0, "pixels": 0,
        } | changes  # fmt: skip
        video = {"path": path, "meta": {"_type": "gradio.FileData"}}
        content = json.dumps({"data": [video, *given.values()]}).replace("1e400", "Infinity")
        sent = self.send("POST", f"{G}/call/{endpoint}", content=content, headers=JSON)
        if sent.status_code != 200:
            return sent.text
        return self.events(f"{G}/call/{endpoint}/{sent.json()['event_id']}")

    def open_run(self, path: str) -> str:
        """What the page is told where it opens this upload as a saved run."""
        file = {"path": path, "meta": {"_type": "gradio.FileData"}}
        return self.page("gv-open", "upload", {"gv-open": file})

    def page(self, name: str, happens: str, changes: dict[str, Any], session: str = "") -> str:
        """What the page is told on an event of a widget; see :meth:`event`."""
        return self.told(self.event(name, happens, changes, session))

    def told(self, body: Any) -> str:
        """What the page is told on an event that is sent in this way."""
        sent = self.send("POST", f"{G}/queue/join", json=body)
        if sent.status_code != 200:
            return sent.text
        return self.events(f"{G}/queue/data", params={"session_hash": body["session_hash"]})

    def event(self, name: str, happens: str, changes: dict[str, Any], session: str = "") -> Any:
        """What a page sends on an event of a widget, some values other than at its start.

        Widgets are known by their id or their label, buttons by their words, too. Where a script
        gathers values for the event, this does; "gathered" is all of them together.
        """
        config = self.config
        props = {part["id"]: part["props"] for part in config["components"]}
        named = {number: {own.get("elem_id"), own.get("label")} for number, own in props.items()}
        for part in config["components"]:
            if part["type"] == "button":
                named[part["id"]].add(part["props"]["value"])
        events = config["dependencies"]
        event = next(
            event
            for event in events
            for number, kind in event["targets"]
            if kind == happens and name in named.get(number, ())
        )

        def values(event: Any) -> list[Any]:
            found = []
            for number in event["inputs"]:
                changed = [changes[key] for key in named[number] if key in changes]
                found.append(changed[0] if changed else props[number].get("value"))
            return found

        if not event["backend_fn"]:
            box = event["outputs"][0]
            named[box], props[box] = {"gathered"}, {"value": [*values(event), 1]}
            event = next(later for later in events if later["trigger_after"] == event["id"])
        data = values(event)
        session = session or secrets.token_hex(8)
        return {"data": data, "fn_index": event["id"], "session_hash": session}

    def line(self, begun: bytes) -> socket.socket:
        """A connection that has sent so much."""
        parts = urlsplit(self.url)
        opened = socket.create_connection((parts.hostname, parts.port), timeout=30)
        opened.sendall(begun)
        return opened


JSON = {"content-type": "application/json"}


def quiet(reply: httpx.Response) -> bool:
    """Whether a reply gives nothing of this machine away."""
    return not any(secret in reply.content for secret in SECRETS)
