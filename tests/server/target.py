"""Client of a server: uploads clips, calls the endpoint ``ask`` and sends events of the page."""

from __future__ import annotations

import json
import time
from contextlib import suppress
from functools import cached_property
from pathlib import Path
from typing import Any

import httpx

G = "/gradio_api"
CLIP = Path(__file__).resolve().parents[2] / "assets" / "clips" / "glimpse_1.mp4"
JSON = {"content-type": "application/json"}
ARGUMENTS = {  # arguments of /ask, in order
    "question": "What?", "compressor": "uniform", "ratio": 0.25, "model": "", "frames": 4,
    "settings": None, "seed": 0, "temperature": 0.0, "length": 4, "top_p": 1.0, "pixels": 0,
}  # fmt: skip


class Target:
    """A server and one visitor, who repeats requests refused with status 429."""

    def __init__(self, url: str) -> None:
        limits = httpx.Limits(max_keepalive_connections=0)
        self.client = httpx.Client(base_url=url, timeout=60, limits=limits)

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

    def ask(self, path: str, **changes: Any) -> str:
        """Call the endpoint ``ask`` about a clip."""
        data = json.dumps({"data": [file(path), *(ARGUMENTS | changes).values()]})
        sent = self.send("POST", f"{G}/call/ask", content=data, headers=JSON)
        name = sent.json()["event_id"] if sent.is_success else ""
        return self.events(f"{G}/call/ask/{name}") if name else sent.text

    def preview(self, changes: dict[str, Any], session: str) -> str:
        """Send the preview that follows the event ``preview`` of the page's scripts.

        The page's script first gathers all values in one list, then one event of the server shows
        what is in memory, and the next one computes the rest. ``changes``: widget id -> value.
        """
        config = self.send("GET", "/config").json()
        props = {part["id"]: part["props"] for part in config["components"]}
        events = config["dependencies"]

        def following(event: Any) -> Any:
            after = (later for later in events if later["trigger_after"] == event["id"])
            return next(later for later in after if later["backend_fn"])

        def value(number: int) -> Any:
            return changes.get(props[number].get("elem_id") or "", props[number].get("value"))

        signals = next(n for n, own in props.items() if own.get("elem_id") == "gv-signals")
        gather = next(event for event in events if [signals, "preview"] in event["targets"])
        event = following(following(gather))
        (box,) = gather["outputs"]
        gathered = {box: {"values": [*map(value, gather["inputs"])], "version": 1}}
        data = [
            gathered[number] if number in gathered else value(number) for number in event["inputs"]
        ]
        body = {"data": data, "fn_index": event["id"], "session_hash": session}
        sent = self.send("POST", f"{G}/queue/join", json=body)
        stream = {"session_hash": session}
        return self.events(f"{G}/queue/data", params=stream) if sent.is_success else sent.text


def file(path: str) -> Any:
    """Return Gradio's file data for a path, as pages and clients send it."""
    return {"path": path, "meta": {"_type": "gradio.FileData"}}
