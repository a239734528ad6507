"""Client of a server under attack, as one visitor."""

from __future__ import annotations

import json
import secrets
import socket
import time
from contextlib import suppress
from functools import cached_property
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx

G = "/gradio_api"
ROOT = Path(__file__).resolve().parents[2]
CLIP = ROOT / "assets" / "clips" / "glimpse_1.mp4"
SECRETS = (b"root:x:", b"from __future__", b"[project]", b"BEGIN ")
JSON = {"content-type": "application/json"}
CLICKS = {"follow": "click", "work": "click"}
ARGUMENTS = {  # arguments of /ask, in order
    "question": "What?", "compressor": "uniform", "ratio": 0.25, "model": "", "frames": 4,
    "settings": None, "seed": 0, "temperature": 0.0, "length": 4, "top_p": 1.0, "pixels": 0,
}  # fmt: skip


class Target:
    """A server under attack, and one visitor, who repeats requests refused with status 429."""

    def __init__(self, url: str) -> None:
        limits = httpx.Limits(max_keepalive_connections=0)
        self.url, self.client = url, httpx.Client(base_url=url, timeout=60, limits=limits)

    @cached_property
    def config(self) -> Any:
        """Gradio's configuration of the page."""
        return self.send("GET", "/config").json()

    @cached_property
    def clip(self) -> str:
        """Path on the server of a clip, which is uploaded on first use."""
        return self.upload("clip.mp4", CLIP.read_bytes())

    def send(self, method: str, path: str, **options: Any) -> httpx.Response:
        for _ in range(20):
            reply = self.client.request(method, path, **options)
            if reply.status_code != 429:
                break
            time.sleep(1.0)
        return reply

    def events(self, path: str, **options: Any) -> str:
        """Return the text of a server-sent event stream, read until it ends or breaks off."""
        parts = []
        with suppress(httpx.RemoteProtocolError), self.client.stream("GET", path, **options) as got:
            parts.extend(got.iter_bytes())
        return b"".join(parts).decode()

    def upload(self, name: str, content: bytes) -> str:
        return str(self.send("POST", f"{G}/upload", files={"files": (name, content)}).json()[0])

    def text(self, path: str, method: str = "GET", **options: Any) -> str:
        return self.send(method, path, **options).text

    def ask(self, path: str | None = None, **changes: Any) -> str:
        """Call the endpoint ``ask`` about a clip (default: an example clip)."""
        path = self.clip if path is None else path
        return self.call([file(path), *(ARGUMENTS | changes).values()])

    def call(self, values: list[Any]) -> str:
        """Call the endpoint ``ask`` with positional values."""
        data = json.dumps({"data": values})
        sent = self.send("POST", f"{G}/call/ask", content=data, headers=JSON)
        name = sent.json()["event_id"] if sent.is_success else ""
        return self.events(f"{G}/call/ask/{name}") if name else sent.text

    def page(self, name: str, happens: str, changes: dict[str, Any], session: str = "") -> str:
        """Send the request of :meth:`event`; return the text of the server's answer."""
        body = self.event(name, happens, changes, session)
        sent = self.send("POST", f"{G}/queue/join", json=body)
        stream = {"session_hash": body["session_hash"]}
        return self.events(f"{G}/queue/data", params=stream) if sent.is_success else sent.text

    def event(self, name: str, happens: str, changes: dict[str, Any], session: str = "") -> Any:
        """Return the request that the page would send for a Gradio event of the widget ``name``.

        Widgets are named by id or label, buttons also by their text. ``happens`` is Gradio's name
        of the event, such as "click"; "follow" for the server's event after that of a click; or
        "work" for the server's event after the script that follows a click. ``changes``: widget
        name -> value. If the page's script would first gather all values in one list, so does this
        method; the key "gathered" of ``changes`` replaces the whole list.
        """
        props = {part["id"]: part["props"] for part in self.config["components"]}
        named = {number: {own.get("elem_id"), own.get("label")} for number, own in props.items()}
        for part in self.config["components"]:
            if part["type"] == "button":
                named[part["id"]].add(part["props"]["value"])
        events = self.config["dependencies"]
        event = next(
            event
            for event in events
            for number, kind in event["targets"]
            if kind == CLICKS.get(happens, happens) and name in named.get(number, ())
        )

        def following(event: Any, on_server: bool = True) -> Any:
            after = (later for later in events if later["trigger_after"] == event["id"])
            return next(later for later in after if later["backend_fn"] == on_server)

        def values(event: Any) -> list[Any]:
            found = []
            for number in event["inputs"]:
                changed = [changes[key] for key in named[number] if key in changes]
                found.append(changed[0] if changed else props[number].get("value"))
            return found

        if happens == "work":
            event = following(event, on_server=False)
        if not event["backend_fn"]:
            box = event["outputs"][0]
            named[box], props[box] = {"gathered"}, {"value": [*values(event), 1, False]}
            event = following(event)
        if happens == "follow":
            event = following(event)
        page = session or secrets.token_hex(8)
        return {"data": values(event), "fn_index": event["id"], "session_hash": page}

    def junk(self, junk: Any, first: int, step: int) -> str:
        """Send every ``step``-th event of the page, with inputs ``junk``; return all answers."""
        texts = []
        for event in [one for one in self.config["dependencies"] if one["backend_fn"]][first::step]:
            session = {"session_hash": f"junk{event['id']}"}
            body = {"data": [junk] * len(event["inputs"]), "fn_index": event["id"]} | session
            path = "run/predict" if event["queue"] is False else "queue/join"
            texts.append(self.text(f"{G}/{path}", "POST", json=body | {"event_data": {"a": junk}}))
            if path != "run/predict":
                texts.append(self.events(f"{G}/queue/data", params=session))
        return "".join(texts)

    def connect(self, begun: bytes) -> socket.socket:
        """Open a connection and send the bytes ``begun``."""
        parts = urlsplit(self.url)
        opened = socket.create_connection((parts.hostname, parts.port), timeout=30)
        opened.sendall(begun)
        return opened


def file(path: str) -> Any:
    """Return Gradio's file data for a path, as pages and clients send it."""
    return {"path": path, "meta": {"_type": "gradio.FileData"}}


def is_quiet(content: bytes) -> bool:
    """Return whether an answer contains no content of the server's files."""
    return not any(secret in content for secret in SECRETS)
