"""The client with servers that are no vLLM servers, and the API key of the records endpoint."""

import json
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import SimpleNamespace

import pytest
from fastapi import FastAPI
from starlette.testclient import TestClient

from gleanvid.serving.vllm.client import Server, servers_of
from gleanvid.serving.vllm.endpoint import RecordsEndpoint
from gleanvid.serving.vllm.remote import checkpoint_of, settings_served
from gleanvid.serving.vllm.start import WORKER
from gleanvid.types import ModelError, StoppedError

QUESTION = [{"type": "text", "text": "What?"}]


class Other(BaseHTTPRequestHandler):
    def do_GET(self):
        self.server.asked.append((self.path, self.headers["Authorization"]))
        self.server.answer(self)

    do_POST = do_GET  # noqa: N815

    def log_message(self, *_):
        pass


@pytest.fixture
def other():
    """A server whose ``answer`` a test sets."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), Other)
    server.daemon_threads, server.asked, server.over = True, [], threading.Event()
    server.url = f"http://127.0.0.1:{server.server_port}"
    threading.Thread(target=server.serve_forever, args=[0.05], daemon=True).start()
    yield server
    server.over.set()
    server.shutdown()
    server.server_close()


def sends(text, status=200, **headers):
    def answer(request):
        request.send_response(status)
        for name, value in headers.items():
            request.send_header(name, value)
        request.end_headers()
        request.wfile.write(text)

    return answer


@pytest.mark.parametrize("start", [b"HTTP/1.1 401 no %s\r\n\r\n", b"junk %s\r\n\r\n"])
def test_key_that_a_server_quotes_is_not_in_the_error(other, start):
    other.answer = lambda request: request.wfile.write(start % b"s3cret" + b"x" * 9000)
    with pytest.raises(ModelError) as refused:
        Server(other.url, "s3cret").model()
    assert "s3cret" not in str(refused.value) and len(str(refused.value)) <= 1000


@pytest.mark.parametrize(
    "name",
    [
        *("vllm:", "vllm:http:/host", "vllm:http://user:word@host", "vllm:http://host/any#"),
        *("vllm:host?a=1", "vllm:ftp://host", "vllm:host,", "vllm:[::1", "vllm:a b"),
    ],
)
def test_odd_addresses_are_refused_without_quoting_them(name):
    with pytest.raises(ModelError, match="http://host:port") as refused:
        servers_of(name)
    assert "word" not in str(refused.value)


@pytest.mark.parametrize(
    "ask",
    [
        lambda server, stop: checkpoint_of([server], stop),
        lambda server, stop: server.ask(QUESTION, model="m", stop=stop),
    ],
)
def test_stop_ends_waiting_for_a_silent_server_at_once(other, ask):
    other.answer = lambda request: other.over.wait(30)
    stop = threading.Event()
    threading.Timer(0.2, stop.set).start()
    start = time.monotonic()
    with pytest.raises(StoppedError):
        ask(Server(other.url), stop)
    assert time.monotonic() - start < 20


@pytest.mark.parametrize("text", [b"", b"[]", b'{"data": []}', b"\xff", b'{"data": [{"id": 5}]}'])
def test_responses_that_are_not_vllm_s_are_refused(other, text):
    other.answer = sends(text)
    with pytest.raises(ModelError, match="is not a vLLM server"):
        Server(other.url).model()


METHOD = {"name": "gleanvid"}
RECORDS = {"method": METHOD, "pruning_rate": 0.5, "records": []}


def test_server_settings_that_describe_no_compressor_are_refused(other):
    other.answer = sends(json.dumps(RECORDS | {"method": METHOD | {"evil": 1}}).encode())
    with pytest.raises(ModelError, match="the server's settings describe no compressor"):
        settings_served(f"vllm:{other.url}")


def records_of(worker=WORKER, headers=None, **args):
    """Ask the records endpoint of a server with a fake engine; return its response."""

    class Engine:
        vllm_config = SimpleNamespace(
            model_config=SimpleNamespace(
                hf_config=SimpleNamespace(gleanvid={"name": "gleanvid"}),
                multimodal_config=SimpleNamespace(video_pruning_rate=0.75),
            ),
            parallel_config=SimpleNamespace(worker_extension_cls=worker),
        )

        async def collective_rpc(self, name, args):
            return [{"method": {}, "count": 0, "records": []}]

    app, plugin = FastAPI(), RecordsEndpoint()
    plugin.attach_router(app)

    async def prepare():
        await plugin.init_state(Engine(), app.state, SimpleNamespace(**args))

    with TestClient(app) as visitor:
        visitor.portal.call(prepare)
        return visitor.get("/gleanvid/records", headers=headers)


@pytest.mark.parametrize(
    ("authorization", "status"),
    [("", 401), ("Bearer b", 401), ("Basic a", 401), ("Bearer a", 200), ("bearer c", 200)],
)
def test_records_endpoint_needs_the_api_key_of_vllm(monkeypatch, authorization, status):
    monkeypatch.delenv("VLLM_API_KEY", raising=False)
    headers = {"authorization": authorization}
    assert records_of(headers=headers, api_key=["a", "c"]).status_code == status
    assert records_of(headers=headers, api_key=None).status_code == 200
    monkeypatch.setenv("VLLM_API_KEY", "a")
    env = 200 if authorization == "Bearer a" else 401
    assert records_of(headers=headers, api_key=None).status_code == env


def test_records_endpoint_is_404_with_another_worker_extension():
    answer = records_of(worker="another.Extension")
    assert answer.status_code == 404 and "--worker-extension-cls" in answer.text
