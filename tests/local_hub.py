"""A fake model hub on this machine, with the part of the protocol that downloads use."""

import hashlib
import json
import threading
import time
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import urlsplit

TOKEN = "hf_right"
REVISION = "0123456789abcdef0123456789abcdef01234567"
PIECE = 16 * 1024


@dataclass
class Repository:
    """A folder that the hub serves as a repository, and how the hub behaves for it."""

    folder: Path
    gated: bool = False
    pause_s: float = 0.0  # seconds between pieces of weight files
    silent: str = ""  # requests whose path contains this text are never answered

    def files(self):
        return {path.name: path.read_bytes() for path in sorted(self.folder.iterdir())}


@dataclass
class Hub:
    """A fake hub: its repositories by OWNER/NAME, and the (method, path) of every request."""

    address: str = ""
    repositories: dict[str, Repository] = field(default_factory=dict)
    requests: list[tuple[str, str]] = field(default_factory=list)
    closing: threading.Event = field(default_factory=threading.Event)

    def downloads(self):
        """Return the names of the files that were downloaded."""
        paths = [path for method, path in self.requests if method == "GET" and "resolve" in path]
        return [path.rpartition("/")[2] for path in paths]


def entry(name, data):
    """Return a file's entry in the hub's listings; weight files (LFS) have a sha256."""
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
        self.hub.requests.append((self.command, path))
        parts = path.strip("/").split("/")
        if path == "/":
            return self.send(b"")
        found = self.hub.repositories.get("/".join(parts[2:4] if parts[0] == "api" else parts[:2]))
        token = (self.headers["Authorization"] or "").removeprefix("Bearer ")
        if token and token != TOKEN:
            return self.send(b"", 401, {"X-Error-Message": "Invalid credentials in Authorization"})
        if found is None:
            return self.send(b"", 404 if token else 401, {"X-Error-Code": "RepoNotFound"})
        if found.silent and found.silent in path:
            self.hub.closing.wait(30)
        if parts[0] == "api":
            listed = [entry(*file) for file in found.files().items()]
            facts = {"id": "/".join(parts[2:4]), "sha": REVISION, "siblings": listed}
            return self.send(json.dumps(listed if "tree" in parts else facts).encode())
        if found.gated and token != TOKEN:
            return self.send(b"", 401, {"X-Error-Code": "GatedRepo"})
        data = found.files().get(parts[-1])
        if data is None:
            return self.send(b"", 404, {"X-Error-Code": "EntryNotFound"})
        facts = entry(parts[-1], data)
        etag = f'"{facts.get("lfs", facts)["oid"]}"'
        pause_s = found.pause_s if "lfs" in facts else 0
        self.send(data, 200, {"ETag": etag, "X-Repo-Commit": REVISION}, pause_s)

    def send(self, body, status=200, headers=None, pause_s=0):
        self.send_response(status)
        for name, value in ((headers or {}) | {"Content-Length": str(len(body))}).items():
            self.send_header(name, value)
        self.end_headers()
        with suppress(OSError):  # the client has disconnected
            for start in range(0, 0 if self.command == "HEAD" else len(body), PIECE):
                self.wfile.write(body[start : start + PIECE])
                time.sleep(pause_s)


@contextmanager
def serving():
    """Run a fake hub, to which the caller adds repositories."""
    hub = Hub()
    server = ThreadingHTTPServer(("127.0.0.1", 0), type("Own", (Answers,), {"hub": hub}))
    server.daemon_threads = True
    hub.address = f"http://127.0.0.1:{server.server_port}"
    threading.Thread(target=server.serve_forever, args=[0.05], daemon=True).start()
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
