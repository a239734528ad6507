import httpx
import pytest
from starlette.testclient import TestClient
from uvicorn.middleware.proxy_headers import ProxyHeadersMiddleware

from components.server.guard import Guard
from components.server.visitors import networks, visitor
from tests.components.server.running import running

REACHED = "http://192.168.0.7:7860"


async def told(scope, receive, send):
    """Fake app behind the request checks: answers with the client, scheme and headers it got."""
    seen = [
        (b"seen-scheme", scope["scheme"].encode()),
        (b"seen-client", scope["client"][0].encode()),
    ]
    seen += [(b"seen-" + name, text) for name, text in scope["headers"]]
    await send({"type": "http.response.start", "status": 200, "headers": seen})
    await send({"type": "http.response.body", "body": b""})


def answer(headers, names=(), proxies=()):
    """Return the answer to a request from 10.0.0.5.

    ``names``: further host names of the server. ``proxies``: networks of trusted proxies.
    """
    behind = ProxyHeadersMiddleware(Guard(told, hosts=names), networks(proxies))
    return TestClient(behind, REACHED, client=("10.0.0.5", 1)).get("/", headers=headers)


@pytest.mark.parametrize(
    ("host", "answered"),
    [
        ("localhost:7860", True), ("127.0.0.1", True), ("[::1]:7860", True), ("LOCALHOST", True),
        ("192.168.0.7:7860", True), ("a.example.org", True), ("gleanvid.test", True),
        ("[2001:DB8::7]", True),
        ("evil.example", False), ("example.org", False), ("192.168.0.8", False), ("", False),
        ("localhost.evil.example", False), ("127.0.0.1@evil.example", False),
        ("localhost,evil.example", False),
    ],
)  # fmt: skip
def test_requests_for_unlisted_host_names_are_refused(host, answered):
    reply = answer({"host": host}, names=["*.example.org", "gleanvid.test", "[2001:db8::7]"])
    assert reply.status_code == (200 if answered else 400)


def test_forwarded_headers_are_believed_only_from_a_trusted_proxy():
    # 6.6.6.6 is forged by the visitor, whose proxy is 10.0.0.9
    sent = {"x-forwarded-for": "6.6.6.6, 1.2.3.4, 10.0.0.9", "x-forwarded-proto": "https"}
    sent |= {"x-forwarded-host": "evil.example", "x-gradio-server": "http://evil.example"}
    for proxies, seen in (([], ("10.0.0.5", "http")), (["10.0.0.0/8"], ("1.2.3.4", "https"))):
        told = answer(sent | {"forwarded": "x"}, proxies=proxies).headers
        assert (told["seen-client"], told["seen-scheme"]) == seen
        assert not [name for name in told if "forwarded" in name or "gradio" in name]


@pytest.mark.parametrize(
    ("address", "name"),
    [
        ("1.2.3.4", "1.2.3.4"),
        ("::ffff:1.2.3.4", "1.2.3.4"),
        ("2001:db8::1:2", "2001:db8::/64"),
        ("2001:db8::1:99", "2001:db8::/64"),
        ("fe80::1%eth0", "fe80::/64"),
        ("somebody", "somebody"),
    ],
)
def test_addresses_of_one_ipv6_network_count_as_one_visitor(address, name):
    assert visitor(address) == name


def test_server_on_an_ipv6_address_answers_under_that_address():
    with running(host="::1") as url:
        assert url.startswith("http://[::1]:") and httpx.get(url).status_code == 200
        hosts = ("[::1]", "localhost", "[::2]", "evil.example")
        replies = [httpx.get(f"{url}/healthz", headers={"host": host}) for host in hosts]
        assert [reply.status_code for reply in replies] == [200, 200, 400, 400]
