"""A fake server with vLLM's protocol, for tests without an engine."""

import json
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qsl

import gleanvid
from gleanvid.models.loading.load import BUILTIN


class Stand(BaseHTTPRequestHandler):
    """HTTP handler that answers "green cross" in two pieces and appends requests to ``asked``."""

    def do_GET(self):
        server = self.server
        server.keys.add(self.headers["Authorization"])
        if self.path == "/v1/models":
            self._send({"data": [{"id": "builtin", "root": server.root}]})
        elif self.path.startswith("/gleanvid/records") and server.told is not None:
            asked = dict(parse_qsl(self.path.partition("?")[2]))
            records = [one for one in server.records if one["number"] > int(asked["since"])]
            if "uuid" in asked:
                records = [one for one in records if one["uuid"] == asked["uuid"]]
            self._send(server.told | {"count": len(server.records), "records": records})
        else:
            self.send_error(404)

    def do_POST(self):
        server, length = self.server, int(self.headers["Content-Length"])
        server.asked.append(json.loads(self.rfile.read(length)))
        if server.refuses:
            self._send({"error": {"message": server.refuses}}, 400)
            return
        self.send_response(200)
        self.end_headers()
        with suppress(OSError):  # the client has disconnected
            self._answer(server.asked[-1]["messages"][0]["content"][0])

    def _answer(self, part):
        server = self.server
        time.sleep(server.takes_s)
        if server.told is not None:
            server.told["seconds"] = server.told["seconds"] + server.takes_s / 2
        if server.next_record:
            made = {"uuid": part["uuid"], "number": len(server.records) + 1}
            server.records.append(made | server.next_record.pop())
        for piece in ("green", " cross"):
            self._event({"choices": [{"delta": {"content": piece}}]})
        usage = {"prompt_tokens": server.prompt_tokens, "completion_tokens": 2}
        self._event({"choices": [], "usage": usage})
        self.wfile.write(b"data: [DONE]\n\n")

    def _event(self, event):
        self.wfile.write(b"data: " + json.dumps(event).encode() + b"\n\n")

    def _send(self, value, code=200):
        self.send_response(code)
        self.end_headers()
        self.wfile.write(json.dumps(value).encode())

    def log_message(self, *given):
        pass


@contextmanager
def standing() -> Iterator[Any]:
    """Run a fake vLLM server with GleanVID at 25 %; ``told = None`` disables the records URL."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), Stand)
    server.asked, server.records, server.next_record, server.refuses = [], [], [], ""
    server.told = {"method": gleanvid.GleanVID().settings(), "pruning_rate": 0.75}
    server.keys = set()  # the Authorization headers of GET requests; None: without
    server.told["seconds"], server.takes_s = 0.0, 0.0
    server.prompt_tokens, server.root = 130, str(BUILTIN)
    server.url = f"http://127.0.0.1:{server.server_port}"
    threading.Thread(target=server.serve_forever, args=[0.02], daemon=True).start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()
