"""The page behind a reverse proxy under a path, set up as docs/guides/share.md says."""

from __future__ import annotations

import threading
import time

import httpx
import pytest
import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route

from tests.browser.conftest import listen, served
from tests.browser.steps import answered, ask, notice, slider, tab
from tests.components.fake import FakeBackend, write_clip

PREFIX = "/gleanvid"


def proxy(target: str) -> Starlette:
    """Return a reverse proxy that removes the path prefix and does not buffer."""
    client = httpx.AsyncClient(base_url=target, timeout=60)

    async def forward(request: Request) -> StreamingResponse:
        visitor = {"x-forwarded-for": request.client.host, "x-forwarded-proto": request.url.scheme}
        headers = dict(request.headers) | visitor
        path = request.url.path.removeprefix(PREFIX) or "/"
        address = path + (f"?{request.url.query}" if request.url.query else "")
        content = await request.body()
        sent = client.build_request(request.method, address, headers=headers, content=content)
        reply = await client.send(sent, stream=True)
        dropped = {"content-length", "content-encoding", "transfer-encoding", "connection"}
        kept = {name: value for name, value in reply.headers.items() if name not in dropped}
        return StreamingResponse(reply.aiter_bytes(), reply.status_code, kept)

    async def icon(request: Request) -> Response:
        # browsers request the icon from the host's root, not under the page's path
        return Response(status_code=204)

    below = Route(PREFIX + "/{rest:path}", forward, methods=["GET", "POST"])
    return Starlette(routes=[below, Route("/favicon.ico", icon)])


@pytest.fixture(scope="module")
def address(browser, tmp_path_factory):
    from components.session.examples import Example
    from components.session.work.engine import Engine

    path = tmp_path_factory.mktemp("proxied") / "clip.mp4"
    write_clip(path)
    examples = [Example(path, "Square", "What moves?")]
    with served(Engine(FakeBackend()), examples, root_path=PREFIX) as url:
        config = uvicorn.Config(proxy(f"{url}/"), port=0, log_level="error")
        server = uvicorn.Server(config)
        threading.Thread(target=server.run, daemon=True).start()
        while not server.started:
            time.sleep(0.05)
        port = server.servers[0].sockets[0].getsockname()[1]
        yield f"http://127.0.0.1:{port}{PREFIX}"
        server.should_exit = True


def test_page_works_behind_a_proxy_that_serves_it_under_a_path(window, address):
    page = listen(window)
    replies = []
    page.on("response", lambda reply: replies.append((reply.status, reply.url)))
    page.goto(address + "/")
    page.get_by_role("button", name="Square", exact=True).click()
    notice(page, "Used 32")
    page.wait_for_selector(".gv-viewer[data-state=ready]")
    ask(page, "What moves?")
    answered(page)
    page.click("[data-act=video]")
    page.wait_for_function("document.querySelector('.gv-video').readyState > 1")
    tab(page, "Export and API")
    page.get_by_role("button", name="Write code").click()
    page.wait_for_selector("text=ROOT=")
    assert f"ROOT={address}\n" in page.locator(".gv-code pre").last.inner_text()
    changed = page.get_by_text("The settings have changed since: write the code again.")
    assert changed.count() == 0
    tab(page, "Tokens")
    slider(page, "Retention").fill("0.3")
    tab(page, "Export and API")
    changed.wait_for()
    assert [reply for reply in replies if reply[0] >= 400] == []
    named = [url for _, url in replies if url.startswith("http")]
    assert len(named) > 20 and all(url.startswith(address + "/") for url in named)
    assert page.errors == []
    page.close()
