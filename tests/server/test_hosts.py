"""The server answers to its own names alone, and believes no header but a trusted proxy's."""

from __future__ import annotations

import httpx
import pytest

from components.server import serving
from components.server.hosts import Hosts, neighbourhood, networks
from tests.server.running import running

HERE = {"server": ("192.168.0.7", 7860), "client": ("10.0.0.5", 1), "scheme": "http"}


@pytest.fixture(scope="module")
def address():
    with running() as url:
        yield url


def scope(**headers):
    sent = [(name.replace("_", "-").encode(), text.encode()) for name, text in headers.items()]
    return {**HERE, "headers": sent}


@pytest.mark.parametrize(
    ("host", "answered"),
    [
        ("localhost:7860", True), ("127.0.0.1", True), ("[::1]:7860", True),
        ("192.168.0.7:7860", True), ("a.example.org", True), ("gleanvid.test.", True),
        ("evil.example", False), ("example.org", False), ("192.168.0.8", False), ("", False),
        ("localhost.evil.example", False), ("[::1", False), ("127.0.0.1@evil.example", False),
        ("LOCALHOST.", True), ("[2001:DB8::7]", True), ("user@localhost", False),
        ("localhost/x", False), ("localhost?x", False), ("localhost#x", False),
        (" localhost", False), ("lo\tcalhost", False), ('localhost"><script>', False),
        ("localhost:80:90", False),
        ("localhost:http", False), ("localhost,evil.example", False), ("l\u24deocalhost", False),
    ],
)  # fmt: skip
def test_a_name_is_answered_only_where_it_is_listed(host, answered):
    hosts = Hosts(("*.example.org", "gleanvid.test", "2001:db8::7"))
    assert hosts.answers_to(host, scope()) is answered


def test_forwarded_headers_of_a_stranger_are_taken_out():
    sent = scope(host="localhost", x_forwarded_for="1.2.3.4", x_forwarded_host="evil.example")
    seen, named = Hosts().visitor(sent)
    assert named == ["localhost"] and seen["client"] == HERE["client"]
    assert seen["headers"] == [(b"host", b"localhost")]


def test_a_trusted_proxy_names_the_visitor_and_the_scheme():
    hosts = Hosts(proxies=networks(["10.0.0.0/8"]))
    chain = "6.6.6.6, 1.2.3.4, 10.0.0.9"  # the first was written by the visitor
    sent = scope(host="a", x_forwarded_for=chain, x_forwarded_proto="https", x_forwarded_host="b")
    seen, named = hosts.visitor(sent)
    assert seen["client"] == ("1.2.3.4", 0) and seen["scheme"] == "https" and named == ["a", "b"]


@pytest.mark.parametrize(
    ("address", "whom"),
    [
        ("1.2.3.4", "1.2.3.4"),
        ("1.2.3.4:5678", "1.2.3.4"),
        ("::ffff:1.2.3.4", "1.2.3.4"),
        ("2001:db8::1:2", "2001:db8::/64"),
        ("2001:db8::1:99", "2001:db8::/64"),
        ("[2001:db8::7]:443", "2001:db8::/64"),
        ("fe80::1%eth0", "fe80::/64"),
        ("::1", "::/64"),
        ("", ""),
        ("somebody", "somebody"),
    ],
)
def test_whom_an_address_counts_for(address, whom):
    assert neighbourhood(address) == whom


def test_nobody_names_the_address_of_the_server():
    seen, _ = Hosts().visitor(scope(host="localhost", x_gradio_server="http://evil.example"))
    assert seen["headers"] == [(b"host", b"localhost")]


def test_a_network_that_is_none_is_named():
    with pytest.raises(ValueError, match="nonsense"):
        networks(["nonsense"])


@pytest.mark.parametrize(
    "headers",
    [
        {"host": "evil.example", "origin": "http://evil.example"},
        {"host": "evil.example"},
        {"x-forwarded-host": "evil.example", "origin": "http://evil.example"},
        {"host": "evil.example", "x-forwarded-host": "127.0.0.1"},
        {"origin": "http://[", "forwarded": "host=["},
    ],
)
def test_a_page_under_another_name_reaches_nothing(address, headers):
    for method, path in [("GET", "/config"), ("POST", "/gradio_api/queue/join"), ("OPTIONS", "/")]:
        reply = httpx.request(method, address + path, headers=headers)
        refused = {"GET": (400, 403), "POST": (400, 403), "OPTIONS": (400, 403, 404)}[method]
        if method == "POST" or "host" in headers or "origin" in headers:
            assert reply.status_code in refused
        assert "access-control-allow-origin" not in reply.headers


def test_a_preflight_is_answered_by_nobody(address):
    headers = {"origin": address, "access-control-request-method": "POST"}
    reply = httpx.options(f"{address}/gradio_api/queue/join", headers=headers)
    assert reply.status_code == 404 and "access-control-allow-origin" not in reply.headers


def test_a_visitor_cannot_wash_his_address(monkeypatch):
    from dataclasses import replace

    limits = replace(serving.PUBLIC, requests_per_minute=5)
    with running(limits) as url:
        told = [
            httpx.post(
                f"{url}/gradio_api/cancel", json={}, headers={"x-forwarded-for": f"1.1.1.{n}"}
            )
            for n in range(8)
        ]
    assert told[-1].status_code == 429


def test_a_space_answers_to_its_own_name(monkeypatch):
    monkeypatch.setenv("SPACE_ID", "someone/gleanvid")
    monkeypatch.setenv("SPACE_HOST", "someone-gleanvid.hf.space")
    hosts = serving.hosts("0.0.0.0", False, [], [])
    assert hosts.answers_to("someone-gleanvid.hf.space", scope())
    assert not hosts.answers_to("other.hf.space", scope()) and hosts.trusts("10.16.1.2")


def test_a_server_on_an_address_of_version_6_answers_to_it():
    with running(host="::1") as url:
        assert url.startswith("http://[::1]:") and httpx.get(url).status_code == 200
        hosts = ("[::1]", "localhost", "[::2]", "evil.example")
        told = [httpx.get(f"{url}/healthz", headers={"host": host}) for host in hosts]
        assert [reply.status_code for reply in told] == [200, 200, 400, 400]
