"""A fake model hub on this machine, with the part of the protocol that downloads use.

A repository can have faults: it is gated, slow or corrupt, breaks off downloads, never answers, or
sends whole files only (no ``Range`` requests).
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
    """A folder that the hub serves as a repository, and the faults that the hub shows for it."""

    folder: Path
    gated: bool = False
    pause_s: float = 0.0  # seconds between pieces of large files
    breaks: int = 0  # how many of the next downloads of large files break off
    corrupt: bool = False
    no_ranges: bool = False
    silent: str = ""  # requests whose path contains this text are never answered

    def files(self):
        return {path.name: path.read_bytes() for path in sorted(self.folder.iterdir())}


@dataclass
class Hub:
    """A fake hub: its repositories by OWNER/NAME, and the requests that it has received.

    A request is (method, path, Range header or None).
    """

    address: str = ""
    repositories: dict[str, Repository] = field(default_factory=dict)
    requests: list[tuple[str, str, str | None]] = field(default_factory=list)
    closing: threading.Event = field(default_factory=threading.Event)

    def ranges(self):
        return [part for _, _, part in self.requests if part]


def entry(name, data):
    """Return a file's entry in the hub's listings; large files (LFS) have a sha256."""
    git = hashlib.sha1(b"blob %d\0" % len(data) + data).hexdigest()
    facts = {"type": "file", "path": name, "rfilename": name, "size": len(data)}
    facts |= {"oid": git, "blobId": git}
    if name.endswith(".safetensors"):
        sha = hashlib.sha256(data).hexdigest()
        facts["lfs"] = {"oid": sha, "sha256": sha, "size": len(data), "pointerSize": 134}
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
        self.hub.requests.append((self.command, path, self.headers["Range"]))
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
        if found.silent and found.silent in path:
            self.hub.closing.wait(30)
        if parts[0] == "api":
            listed = [entry(*file) for file in found.files().items()]
            return self.send(
                listed if "tree" in parts else {"id": name, "sha": REVISION, "siblings": listed}
            )
        if found.gated and token != TOKEN:
            return self.say(401, error="GatedRepo")
        return self.file(found, parts[-1])

    def file(self, found, name):
        data = found.files().get(name)
        if data is None:
            return self.say(404, error="EntryNotFound")
        part = None if found.no_ranges else self.headers["Range"]
        large, facts = name.endswith(".safetensors"), entry(name, data)
        first = int(part.removeprefix("bytes=").split("-")[0]) if part else 0
        headers = {"ETag": f'"{facts.get("lfs", facts)["oid"]}"', "X-Repo-Commit": REVISION}
        if part:
            headers["Content-Range"] = f"bytes {first}-{len(data) - 1}/{len(data)}"
        self.head(206 if part else 200, len(data) - first, headers)
        if self.command == "HEAD":
            return
        if found.corrupt and large:
            data = data[:-1] + bytes([data[-1] ^ 1])
        self.write(found, data, first, large)

    def write(self, found, data, first, large):
        middle = first + (len(data) - first) // 2
        for start in range(first, len(data), PIECE):
            if large and found.breaks and start + PIECE > middle:
                found.breaks -= 1
                self.close_connection = True
                return
            try:
                self.wfile.write(data[start : start + PIECE])
            except OSError:  # the client has disconnected
                self.close_connection = True
                return
            if large and found.pause_s:
                time.sleep(found.pause_s)

    def send(self, value):
        body = json.dumps(value).encode()
        self.head(200, len(body), {"Content-Type": "application/json"})
        if self.command != "HEAD":
            self.wfile.write(body)

    def say(self, status, error="", message=""):
        self.head(status, 0, {"X-Error-Code": error, "X-Error-Message": message})

    def head(self, status, length, headers):
        self.send_response(status)
        for name, value in (headers | {"Content-Length": str(length)}).items():
            if value:
                self.send_header(name, value)
        self.end_headers()


@contextmanager
def serving():
    """Run a fake hub, to which the caller adds repositories."""
    hub = Hub()
    server = ThreadingHTTPServer(("127.0.0.1", 0), type("Own", (Answers,), {"hub": hub}))
    server.daemon_threads = True
    hub.address = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, args=[0.05], daemon=True)
    thread.start()
    try:
        yield hub
    finally:
        hub.closing.set()
        server.shutdown()
        server.server_close()


def in_shards(source, target):
    """Save a model like a published one: weights in two files with an index."""
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
