"""An upload holds files, few of them, and nothing that would be kept in memory."""

from __future__ import annotations

import pytest
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route
from starlette.testclient import TestClient

from components.server.forms import MOST_FILES, Form
from components.server.guard import Guard

FILE = b'content-disposition: form-data; name="files"; filename="a.mp4"'
FIELD = b'content-disposition: form-data; name="files"'


def form(*heads, content=b"x", end=b"\r\n--x--\r\n"):
    return b"\r\n".join(b"--x\r\n" + head + b"\r\n\r\n" + content for head in heads) + end


@pytest.fixture(scope="module")
def client():
    async def taken(request: Request) -> JSONResponse:
        return JSONResponse(len(await request.body()))

    routes = [Route("/{rest:path}", taken, methods=["POST"])]
    allowed = ("POST /{rest:path}",)
    return TestClient(Starlette(routes=routes, middleware=[Middleware(Guard, routes=allowed)]))


def sent(client, content, kind="multipart/form-data; boundary=x"):
    return client.post("/gradio_api/upload", content=content, headers={"content-type": kind})


def test_files_pass_as_they_are(client):
    content = form(*[FILE] * MOST_FILES, content=b"y" * 5000)
    assert sent(client, content).json() == len(content)


def test_its_encoding_may_be_said(client):
    assert sent(client, form(FILE), "multipart/form-data; boundary=x; charset=UTF-8").is_success


@pytest.mark.parametrize(
    ("content", "status"),
    [
        (form(*[FILE] * (MOST_FILES + 1)), 413),
        (form(FIELD), 400),
        (form(FILE, FIELD, FILE), 400),
        (form(FIELD, content=b"z" * 100_000, end=b""), 400),
        (form(b"content-type: video/mp4"), 400),
        (form(FIELD + b"; filename*=utf-8''a.mp4"), 400),
        (b"no form", 400),
    ],
    ids=range(7),
)
def test_anything_else_is_refused(client, content, status):
    assert sent(client, content).status_code == status


@pytest.mark.parametrize(
    "kind",
    [
        "multipart/form-data",
        "application/json",
        "",
        f"multipart/form-data; boundary={300 * 'x'}",
        "multipart/form-data; boundary=x; charset=punycode",
    ],
)
def test_without_a_boundary_or_with_another_encoding_there_is_no_form(client, kind):
    assert sent(client, form(FILE), kind).status_code == 400


def test_a_field_is_seen_however_its_form_is_cut(client):
    for size in (1, 3, 7):
        parts, content = Form(b"x"), form(FILE, FIELD)
        for place in range(0, len(content), size):
            parts.feed(content[place : place + size])
        assert parts.refusal is not None
