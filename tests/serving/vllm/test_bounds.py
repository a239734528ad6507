import json
import threading
import time
from concurrent.futures import wait
from http.client import HTTPConnection
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import SimpleNamespace

import pytest
from fastapi import FastAPI
from starlette.testclient import TestClient

from gleanvid.models.loading.background import in_background
from gleanvid.serving.vllm import client, endpoint, opener
from gleanvid.serving.vllm.client import Server, servers_of
from gleanvid.serving.vllm.endpoint import RecordsEndpoint
from gleanvid.serving.vllm.remote import checkpoint_of, settings_served
from gleanvid.serving.vllm.start import WORKER
from gleanvid.types import ModelError, StoppedError

QUESTION = [{"type": "text", "text": "What?"}]


class Evil(BaseHTTPRequestHandler):
    def do_GET(self):
        self.server.asked.append((self.path, self.headers["Authorization"]))
        self.server.answer(self)

    do_POST = do_GET  # noqa: N815

    def log_message(self, *_):
        pass


@pytest.fixture
def evil():
    server = ThreadingHTTPServer(("127.0.0.1", 0), Evil)
    server.daemon_threads, server.asked, server.over = True, [], threading.Event()
    server.url = f"http://127.0.0.1:{server.server_port}"
    threading.Thread(target=server.serve_forever, args=[0.05], daemon=True).start()
    yield server
    server.over.set()
    server.shutdown()
    server.server_close()


def begin(request, status=200, **headers):
    request.send_response(status)
    for name, value in headers.items():
        request.send_header(name, value)
    request.end_headers()


def endless(piece, begin=begin):
    def answer(request):
        begin(request)
        try:
            while True:
                request.wfile.write(piece)
        except OSError:
            return

    return answer


def test_client_does_not_follow_redirects(evil):
    def away(request):
        begin(request, 302, Location=f"{evil.url}/elsewhere")

    evil.answer = away
    for ask in (
        Server(evil.url, "secret").model,
        lambda: Server(evil.url).ask(QUESTION, model="m"),
    ):
        with pytest.raises(ModelError, match="302"):
            ask()
    assert [path for path, _ in evil.asked] == ["/v1/models", "/v1/chat/completions"]


@pytest.mark.parametrize("url", ["file:///etc/passwd", "ftp://127.0.0.1/x", "data:,x", "/etc"])
def test_addresses_other_than_http_are_refused(url):
    with pytest.raises(ModelError, match="no vLLM server answers"):
        Server(url).model()


def test_client_gives_up_an_endless_answer(evil, monkeypatch):
    monkeypatch.setattr(client, "MOST_METADATA", 10**6)
    monkeypatch.setattr(client, "MOST_ANSWER", 10**6)
    evil.answer = endless(b" " * 2**16)
    with pytest.raises(ModelError, match="more than 1 MiB"):
        Server(evil.url).records()
    evil.answer = endless(b'data: {"choices": []}\n')
    with pytest.raises(ModelError, match="more than 1 MiB"):
        Server(evil.url).ask(QUESTION, model="m")


def test_client_gives_up_an_answer_with_an_endless_line(evil):
    evil.answer = endless(b"x" * 2**16)
    with pytest.raises(ModelError, match="a line of more than"):
        Server(evil.url).ask(QUESTION, model="m")


def test_endless_error_message_of_a_server_is_reported_by_status_code_only(evil):
    def refuse(request):
        begin(request, 500)
        endless(b"x" * 2**16)(request)

    evil.answer = refuse
    with pytest.raises(ModelError, match="500"):
        Server(evil.url).model()


def test_client_gives_up_an_answer_after_its_time_limit(evil, monkeypatch):
    def drip(request):
        begin(request)
        while not evil.over.wait(0.05):
            request.wfile.write(b" ")

    evil.answer = drip
    monkeypatch.setattr(client, "METADATA_S", 0.3)
    start = time.monotonic()
    with pytest.raises(ModelError, match="did not finish its answer within"):
        Server(evil.url).model()
    assert time.monotonic() - start < 20


@pytest.fixture
def calls(monkeypatch):
    """The calls that the client has made in background threads."""
    made = []

    def record(*given):
        made.append(in_background(*given))
        return made[-1]

    monkeypatch.setattr(client, "in_background", record)
    return made


def raw(start, piece):
    """Answer with ``start``, then with ``piece`` for ever, slowly if it is a single byte."""

    def answer(request):
        try:
            request.wfile.write(start)
            while not request.server.over.wait(0.01 if len(piece) == 1 else 0):
                request.wfile.write(piece)
        except OSError:
            return

    return answer


CHUNKED = b"HTTP/1.1 %d x\r\nTransfer-Encoding: chunked\r\n\r\n"
INTERIM = raw(b"", b"HTTP/1.1 100 Continue\r\n\r\n")


@pytest.mark.parametrize(
    "answer",
    [
        INTERIM,
        raw(CHUNKED % 200 + b"0\r\n", b"X: y\r\n"),
        raw(CHUNKED % 500 + b"0\r\n", b"X: y\r\n"),
        raw(CHUNKED % 200, b"0"),
        raw(CHUNKED % 500 + b"-1\r\n", b"x" * 2**16),
    ],
    ids=["interim", "trailers", "error_trailers", "chunk_size", "error_of_negative_size"],
)
def test_threads_of_a_given_up_request_end(evil, calls, monkeypatch, answer):
    evil.answer = answer
    monkeypatch.setattr(client, "METADATA_S", 0.3)
    with pytest.raises(ModelError, match=r"did not finish its answer within|500"):
        Server(evil.url).model()
    assert not wait(calls, 20).not_done


def test_thread_of_a_request_that_connects_after_the_time_limit_ends(evil, calls, monkeypatch):
    evil.answer = INTERIM
    monkeypatch.setattr(client, "METADATA_S", 0.1)
    given_up, connect = threading.Event(), HTTPConnection.connect

    def connect_late(connection):
        assert given_up.wait(20)
        connect(connection)

    monkeypatch.setattr(HTTPConnection, "connect", connect_late)
    with pytest.raises(ModelError, match="did not finish its answer within"):
        Server(evil.url).model()
    given_up.set()
    assert not wait(calls, 20).not_done


@pytest.mark.parametrize("start", [b"HTTP/1.1 401 no %s\r\n\r\n", b"junk %s\r\n\r\n"])
def test_key_that_a_server_quotes_is_not_in_the_error(evil, start):
    evil.answer = lambda request: request.wfile.write(start % b"s3cret")
    with pytest.raises(ModelError, match=r"\[key\]") as refused:
        Server(evil.url, "s3cret").model()
    assert "s3cret" not in str(refused.value)


@pytest.mark.parametrize("address", ["http://127.0.0.1:1", "http://[::1]:1", "ftp://host.invalid"])
def test_proxies_get_no_request_to_this_machine_or_of_another_protocol(evil, monkeypatch, address):
    for scheme in ("http", "ftp"):
        monkeypatch.setenv(f"{scheme}_proxy", evil.url)
    monkeypatch.delenv("no_proxy", raising=False)
    monkeypatch.setattr(client, "OPENER", opener._opener())
    evil.answer = begin
    with pytest.raises(ModelError, match="no vLLM server answers"):
        Server(address, "s3cret").model()
    assert not evil.asked
    with pytest.raises(ModelError):
        Server("http://host.invalid").model()
    assert evil.asked == [("http://host.invalid/v1/models", None)]


@pytest.mark.parametrize(
    "name",
    [
        *("vllm:", "vllm:http:/host", "vllm:http://user:word@host", "vllm:http://host/any#"),
        *("vllm:host?a=1", "vllm:ftp://host", "vllm:host,", "vllm:[::1", "vllm:a b"),
        "vllm:" + ",".join(f"host:{port}" for port in range(8000, 8017)),
    ],
)
def test_odd_addresses_are_refused_without_quoting_them(name):
    with pytest.raises(ModelError, match=r"http://host:port|addresses of 16") as refused:
        servers_of(name)
    assert "word" not in str(refused.value)


@pytest.mark.parametrize("host", ["host", "https://h-1.example.org:8000/proxy/v1", "[::1]:8000"])
def test_usual_addresses_are_accepted(host):
    assert servers_of(f"vllm:{host}")


def test_looking_up_a_typed_server_can_be_cancelled(evil):
    evil.answer = lambda request: evil.over.wait(30)
    stop = threading.Event()
    threading.Timer(0.2, stop.set).start()
    with pytest.raises(StoppedError):
        checkpoint_of([Server(evil.url)], stop)


def test_stop_ends_waiting_for_a_silent_server_at_once(evil):
    evil.answer = lambda request: evil.over.wait(30)
    stop = threading.Event()
    threading.Timer(0.2, stop.set).start()
    start = time.monotonic()
    with pytest.raises(StoppedError):
        Server(evil.url).ask(QUESTION, model="m", stop=stop)
    assert time.monotonic() - start < 20


LONG_ROOT = json.dumps({"data": [{"id": "x", "root": "y" * 10**6}]}).encode()


@pytest.mark.parametrize(
    "text", [b"", b"[", b"[]", b'{"data": []}', b"[" * 10**5, b"\xff", LONG_ROOT]
)
def test_responses_that_are_not_vllm_s_are_refused(evil, text):
    def answer(request):
        begin(request)
        request.wfile.write(text)

    evil.answer = answer
    with pytest.raises(ModelError, match="is not a vLLM server"):
        Server(evil.url).model()


METHOD = {"name": "gleanvid"}
RECORDS = {"method": METHOD, "pruning_rate": 0.5, "records": []}
ODD_RECORDS = [
    [], 5, {}, RECORDS | {"method": "gleanvid"}, RECORDS | {"method": {"name": []}},
    RECORDS | {"pruning_rate": "x"}, RECORDS | {"pruning_rate": 1e300}, RECORDS | {"records": {}},
    RECORDS | {"seconds": "x"}, RECORDS | {"records": [5]},
    *(
        RECORDS | {"records": [{"grid": [1, 2, 2], "keep": [0]} | odd]}
        for odd in (
            {"grid": 5}, {"grid": [1, 2]}, {"grid": ["x", 2, 2]}, {"keep": 5}, {"keep": []},
            {"keep": [4]}, {"keep": [-1]}, {"keep": [0, 0]}, {"keep": [0.5]}, {"keep": [10**400]},
        )
    ),
]  # fmt: skip


@pytest.mark.parametrize("told", ODD_RECORDS, ids=range(len(ODD_RECORDS)))
def test_malformed_records_from_a_server_are_refused(evil, told):
    def answer(request):
        begin(request)
        request.wfile.write(json.dumps(told).encode())

    evil.answer = answer
    with pytest.raises(ModelError, match="not GleanVID's"):
        Server(evil.url).records()


def test_server_settings_that_describe_no_compressor_are_refused(evil):
    def answer(request):
        begin(request)
        told = RECORDS | {"method": METHOD | {"alpha_min": [], "evil": 1}}
        request.wfile.write(json.dumps(told).encode())

    evil.answer = answer
    with pytest.raises(ModelError, match="the server's settings describe no compressor"):
        settings_served(f"vllm:{evil.url}")


@pytest.mark.parametrize(
    "sent", [b"junk\r\n\r\n", b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nx"]
)
def test_broken_http_response_is_reported_with_a_sentence(evil, sent):
    evil.answer = lambda request: request.wfile.write(sent)
    with pytest.raises(ModelError, match=r"not a vLLM server|no vLLM server|broke off"):
        Server(evil.url).model()


def served(records=(), worker=WORKER, **args):
    """Return a web app with the records endpoint, and a function that gives it a fake engine."""

    class Engine:
        vllm_config = SimpleNamespace(
            model_config=SimpleNamespace(
                hf_config=SimpleNamespace(gleanvid={"name": "gleanvid"}),
                multimodal_config=SimpleNamespace(video_pruning_rate=0.75),
            ),
            parallel_config=SimpleNamespace(worker_extension_cls=worker),
        )

        async def collective_rpc(self, name, args):
            return [{"method": {}, "count": len(records), "records": list(records)}]

    app, plugin = FastAPI(), RecordsEndpoint()
    plugin.attach_router(app)

    async def prepare():
        await plugin.init_state(Engine(), app.state, SimpleNamespace(**args))

    return app, prepare


def told(app_and_prepare, **headers):
    app, prepare = app_and_prepare
    with TestClient(app) as visitor:
        visitor.portal.call(prepare)
        return visitor.get("/gleanvid/records", headers=headers)


@pytest.mark.parametrize(
    ("authorization", "status"),
    [
        ("", 401),
        ("Bearer b", 401),
        ("Basic a", 401),
        ("a", 401),
        ("Bearer a", 200),
        ("bearer c", 200),
    ],
)
def test_records_endpoint_needs_the_api_key_of_vllm(monkeypatch, authorization, status):
    monkeypatch.delenv("VLLM_API_KEY", raising=False)
    headers = {"authorization": authorization} if authorization else {}
    assert told(served(api_key=["a", "c"]), **headers).status_code == status
    assert told(served(api_key=None), **headers).status_code == 200
    monkeypatch.setenv("VLLM_API_KEY", "a")
    env = 200 if authorization == "Bearer a" else 401
    assert told(served(api_key=None), **headers).status_code == env


def test_records_endpoint_returns_a_limited_number_of_latest_records(monkeypatch):
    monkeypatch.setattr(endpoint, "MOST_TOKENS", 25)
    records = [{"number": n, "grid": [1, 2, 5], "keep": list(range(10))} for n in range(1, 9)]
    found = json.loads(told(served(records)).text)
    assert [record["number"] for record in found["records"]] == [7, 8] and found["count"] == 8


def test_records_endpoint_is_404_with_another_worker_extension():
    answer = told(served(worker="another.Extension"))
    assert answer.status_code == 404 and "--worker-extension-cls" in answer.text
