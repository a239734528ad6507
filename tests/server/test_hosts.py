from __future__ import annotations

from dataclasses import replace

import httpx
import pytest
from starlette.testclient import TestClient

from components.server import serving
from components.server.guard import Guard
from components.server.visitors import Proxies, networks, visitor
from tests.server.running import running

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
    behind = Guard(told, hosts=names, proxies=Proxies(networks(proxies)))
    return TestClient(behind, REACHED, client=("10.0.0.5", 1)).get("/", headers=headers)


@pytest.mark.parametrize(
    ("host", "answered"),
    [
        ("localhost:7860", True), ("127.0.0.1", True), ("[::1]:7860", True), ("LOCALHOST", True),
        ("192.168.0.7:7860", True), ("a.example.org", True), ("gleanvid.test", True),
        ("[2001:DB8::7]", True),
        ("evil.example", False), ("example.org", False), ("192.168.0.8", False), ("", False),
        ("localhost.evil.example", False), ("[::1", False), ("127.0.0.1@evil.example", False),
        ("user@localhost", False), ("localhost/x", False), ("localhost?x", False),
        ("localhost#x", False), ("lo\tcalhost", False),
        ('localhost"><script>', False), ("localhost:80:90", False), ("localhost:http", False),
        ("localhost:99999", False), ("localhost:65535", True),
        ("localhost,evil.example", False),
    ],
)  # fmt: skip
def test_requests_for_unlisted_host_names_are_refused(host, answered):
    reply = answer({"host": host}, names=["*.example.org", "gleanvid.test", "[2001:db8::7]"])
    assert reply.status_code == (200 if answered else 400)


@pytest.mark.parametrize("name", ["host", "origin", "x-forwarded-host", "x-forwarded-proto"])
@pytest.mark.parametrize("proxies", [[], ["10.0.0.0/8"]])
def test_request_with_a_duplicate_host_header_is_refused(name, proxies):
    pair = {"host": "inside", "x-forwarded-proto": "https"}.get(name, "a.example")
    for first, last in ((pair, "evil.example"), ("evil.example", pair), (pair, pair)):
        reply = answer([(name, first), (name, last)], ["a.example", "inside"], proxies)
        assert reply.status_code == 400 and "twice" in reply.text
    assert answer({"x-forwarded-host": "a.example"}, ["a.example"], proxies).status_code == 200


def test_forwarded_headers_are_ignored_unless_from_a_trusted_proxy():
    sent = {"x-forwarded-for": "1.2.3.4", "x-forwarded-host": "evil.example", "forwarded": "x"}
    seen = answer(sent | {"x-gradio-server": "http://evil.example"}).headers
    assert seen["seen-client"] == "10.0.0.5" and seen["seen-host"] == "192.168.0.7:7860"
    assert not [name for name in seen if "forwarded" in name or "gradio" in name]


def test_trusted_proxy_s_headers_set_visitor_scheme_and_host():
    sent = {"x-forwarded-for": "6.6.6.6, 1.2.3.4, 10.0.0.9", "x-forwarded-proto": "https"}
    sent |= {"host": "inside", "x-forwarded-host": "a.example"}  # 6.6.6.6 is forged by the visitor
    seen = answer(sent, ["a.example"], ["10.0.0.0/8"]).headers
    assert (seen["seen-client"], seen["seen-scheme"]) == ("1.2.3.4", "https")
    assert seen["seen-host"] == "a.example"
    assert not [name for name in seen if "forwarded" in name]
    assert answer(sent, ["inside"], ["10.0.0.0/8"]).status_code == 400


@pytest.mark.parametrize(
    ("address", "name"),
    [
        ("1.2.3.4", "1.2.3.4"),
        ("::ffff:1.2.3.4", "1.2.3.4"),
        ("2001:db8::1:2", "2001:db8::/64"),
        ("2001:db8::1:99", "2001:db8::/64"),
        ("fe80::1%eth0", "fe80::/64"),
        ("::1", "::/64"),
        ("", ""),
        ("somebody", "somebody"),
    ],
)
def test_addresses_of_one_ipv6_network_count_as_one_visitor(address, name):
    assert visitor(address) == name


def test_error_about_an_invalid_proxy_network_quotes_the_network():
    with pytest.raises(ValueError, match="nonsense"):
        networks(["nonsense"])


@pytest.fixture(scope="module")
def address():
    with running(replace(serving.PUBLIC, requests_per_minute=20)) as url:
        yield url


def test_visitor_cannot_escape_the_rate_limit_by_forging_an_address(address):
    url = f"{address}/gradio_api/cancel"
    forged = ({"x-forwarded-for": f"1.1.1.{n}"} for n in range(60))
    assert 429 in (httpx.post(url, json={}, headers=sent).status_code for sent in forged)


def test_hugging_face_space_answers_to_its_own_host_name(monkeypatch):
    monkeypatch.setenv("SPACE_ID", "someone/gleanvid")
    monkeypatch.setenv("SPACE_HOST", "someone-gleanvid.hf.space")
    names, proxies = serving.reached_by("0.0.0.0", False, [], [])
    assert "someone-gleanvid.hf.space" in names and "*.hf.space" not in names
    assert proxies.trusts("10.16.1.2") and not proxies.trusts("1.2.3.4")


def test_server_on_an_ipv6_address_answers_under_that_address():
    with running(host="::1") as url:
        assert url.startswith("http://[::1]:") and httpx.get(url).status_code == 200
        hosts = ("[::1]", "localhost", "[::2]", "evil.example")
        replies = [httpx.get(f"{url}/healthz", headers={"host": host}) for host in hosts]
        assert [reply.status_code for reply in replies] == [200, 200, 400, 400]
