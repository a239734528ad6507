"""Faults in Gradio's routes leave one bounded line in the log, never what a visitor sent."""

import logging

import httpx
import pytest

from tests.server.running import running

FORGED = "\u001b[31mFORGED\nERROR: forged line"


@pytest.fixture(scope="module")
def address():
    with running() as url:
        yield url


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("POST", "/gradio_api/call/v2/ask", {}),
        ("POST", "/gradio_api/call/v2/ask", {FORGED * 5000: 1}),
        ("GET", f"/?page={'x' * 20_000}", None),
        ("GET", "/gradio_api/call/ask/%00", None),
    ],
)
def test_a_fault_of_a_route_is_one_bounded_line(address, caplog, method, path, body):
    with caplog.at_level(logging.INFO):
        answer = httpx.request(method, address + path, json=body, timeout=20)
    assert answer.status_code >= 400
    lines = [record for record in caplog.records if record.name != "httpx"]
    assert not any(record.exc_info for record in lines)
    logged = "".join(record.getMessage() for record in lines)
    assert len(logged) < 1000 and "\x1b" not in logged and "\n" not in logged
