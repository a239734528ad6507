"""A model hub on this machine: the part of the protocol that downloading a checkpoint uses.

Of each repository it can be said that it is gated, slow, broken off, corrupt, or without answers
to requests for a part of a file.
"""

from __future__ import annotations

import hashlib
import json
import threading
import time
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import urlsplit

TOKEN = "hf_right"
REVISION = "0123456789abcdef0123456789abcdef01234567"
PIECE = 16 * 1024


@dataclass
class Repository:
    """A folder as the hub shows it."""

    folder: Path
    gated: bool = False
    pause_s: float = 0.0  # between pieces of large files
    breaks: int = 0  # how often a large file still ends in its middle
    corrupt: bool = False
    no_parts: bool = False

    def files(self):
        return {path.name: path.read_bytes() for path in sorted(self.folder.iterdir())}


@dataclass
class Hub:
    """What it serves, by OWNER/NAME, and what it was asked: (method, path, range)."""

    address: str = ""
    repositories: dict[str, Repository] = field(default_factory=dict)
    asked: list[tuple[str, str, str | None]] = field(default_factory=list)

    def ranges(self):
        return [part for _, _, part in self.asked if part]


def entry(name, data):
    """A file as the tree lists it: large ones (LFS) have a sha256 too."""
    git = hashlib.sha1(b"blob %d\0" % len(data) + data).hexdigest()
    facts = {"type": "file", "path": name, "size": len(data), "oid": git}
    if name.endswith(".safetensors"):
        sha = hashlib.sha256(data).hexdigest()
        facts["lfs"] = {"oid": sha, "size": len(data), "pointerSize": 134}
    return facts


class Answers(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    hub: Hub

    def log_message(self, *_):
        pass

    def do_HEAD(self):
        self.do_GET()

    def do_GET(self):
        path = urlsplit(self.path).path
        self.hub.asked.append((self.command, path, self.headers["Range"]))
        parts = path.strip("/").split("/")
        if path == "/":
            return self.say(200)
        name = "/".join(parts[2:4] if parts[0] == "api" else parts[:2])
        found = self.hub.repositories.get(name)
        token = (self.headers["Authorization"] or "").removeprefix("Bearer ")
        if token and token != TOKEN:
            return self.say(401, message="Invalid credentials in Authorization header")
        if found is None:
            return self.say(401 if not token else 404, error="RepoNotFound")
        if parts[0] == "api":
            return self.api(name, found, parts[4:])
        if found.gated and token != TOKEN:
            return self.say(401, error="GatedRepo")
        return self.file(found, parts[-1])

    def api(self, name, found, rest):
        if rest[:1] == ["tree"] and len(rest) == 2:
            if found.gated and not self.headers["Authorization"]:
                return self.say(401, error="GatedRepo")
            return self.send([entry(*file) for file in found.files().items()])
        if not rest or rest[0] == "revision":
            siblings = [{"rfilename": file} for file in found.files()]
            return self.send({"id": name, "sha": REVISION, "siblings": siblings})
        return self.say(404, error="EntryNotFound")

    def file(self, found, name):
        data = found.files().get(name)
        if data is None:
            return self.say(404, error="EntryNotFound")
        part = self.headers["Range"]
        if part and found.no_parts:
            return self.say(501)
        large, facts = name.endswith(".safetensors"), entry(name, data)
        first = int(part.removeprefix("bytes=").split("-")[0]) if part else 0
        self.send_response(206 if part else 200)
        self.send_header("ETag", f'"{facts.get("lfs", facts)["oid"]}"')
        self.send_header("X-Repo-Commit", REVISION)
        self.send_header("Content-Length", str(len(data) - first))
        if part:
            self.send_header("Content-Range", f"bytes {first}-{len(data) - 1}/{len(data)}")
        self.end_headers()
        if self.command == "HEAD":
            return None
        if found.corrupt and large:
            data = data[:-1] + bytes([data[-1] ^ 1])
        return self.write(found, data, first, large)

    def write(self, found, data, first, large):
        middle = first + (len(data) - first) // 2
        for start in range(first, len(data), PIECE):
            if large and found.breaks and start + PIECE > middle:
                found.breaks -= 1
                self.close_connection = True
                return
            try:
                self.wfile.write(data[start : start + PIECE])
            except OSError:  # the other side went
                self.close_connection = True
                return
            if large and found.pause_s:
                time.sleep(found.pause_s)

    def send(self, value):
        body = json.dumps(value).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def say(self, status, error="", message=""):
        self.send_response(status)
        for name, value in (("X-Error-Code", error), ("X-Error-Message", message)):
            if value:
                self.send_header(name, value)
        self.send_header("Content-Length", "0")
        self.end_headers()


@contextmanager
def serving():
    """A hub without repositories."""
    hub = Hub()
    server = ThreadingHTTPServer(("127.0.0.1", 0), type("Own", (Answers,), {"hub": hub}))
    server.daemon_threads = True
    hub.address = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, args=[0.05], daemon=True)
    thread.start()
    try:
        yield hub
    finally:
        server.shutdown()
        server.server_close()


def in_shards(source, target):
    """A saved model as published: weights in two files with an index."""
    from safetensors.torch import load_file

    from tests.models.loading.test_published_format import save_in_shards

    target.mkdir()
    save_in_shards(load_file(source / "model.safetensors"), target)
    for file in source.iterdir():
        if file.name != "model.safetensors":
            (target / file.name).write_bytes(file.read_bytes())
    (target / "README.md").write_text("not needed to load it")
    (target / "pytorch_model.bin").write_bytes(b"a pickle")
    return target
