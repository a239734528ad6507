"""Every route of the server is either listed for visitors or refused by name."""

import pytest
from gradio.routes import App
from starlette.routing import Mount

from components.jobs.engine import Engine
from components.page.page import build_app
from components.server import serving
from components.server.allowed import ALLOWED, MCP, PREDICT
from components.server.allowed import GRADIO as G
from tests.components.fake import FakeBackend

CLOSED = (  # unneeded routes of Gradio 6.31, which must be closed
    "/openapi.json", "/redoc", "/login", "/logout", "/svelte/{path:path}", "/pwa_icon",
    "/robots.txt", "/manifest.json", "/pwa_icon/{size}", "/monitoring/{key}",
    "/monitoring", "/monitoring/summary",
    *(G + path for path in (
        "/deep_link", "/user", "/login_check", "/token", "/dev/reload", "/runs",
        "/run-history/connect", "/run-history/buckets", "/run-history/records",
        "/run-history/records/{endpoint}/{record_id}/assets/{asset_id}", "/openapi.json",
        "/custom_component/{id}/{environment}/{type}/{file_name}", "/proxy={url_path:path}",
        "/stream/{event_id}", "/stream/{event_id}/close",
        "/stream/{session_hash}/{run}/{component_id}/playlist.m3u8",
        "/stream/{session_hash}/{run}/{component_id}/{segment_id}.{ext}",
        "/stream/{session_hash}/{run}/{component_id}/playlist-file", "/file/{path:path}",
        "/api/{api_name}", "/run/{api_name}", "/component_server", "/process_recording",
        "/vibe-edit", "/undo-vibe-edit", "/vibe-code", "/vibe-starter-queries",
    )),
)  # fmt: skip


@pytest.fixture(scope="module")
def routes():
    """Return (method, path) of every route of the server, with those of included routers."""
    page = build_app(Engine(FakeBackend()))
    options = serving.options("127.0.0.1", None, False)["app_kwargs"]
    found = []

    def walk(listed):
        for route in listed:
            router = getattr(route, "original_router", None)
            if router is not None:
                walk(router.routes)
            elif isinstance(route, Mount):
                found.append(("GET", f"{route.path}/{{rest:path}}"))
            else:
                found.extend((method, route.path) for method in route.methods)

    walk(App.create_app(page, app_kwargs=options, mcp_server=True).routes)
    return found


def test_every_route_is_either_allowed_or_refused_by_name(routes):
    allowed = {*ALLOWED, *MCP}
    assert len(routes) > 80
    unknown = {
        f"{method} {path}"
        for method, path in routes
        if f"{method} {path}" not in allowed
        and path.rstrip("/") not in CLOSED
        and f"{method} {path.rstrip('/')}" not in allowed  # a final slash makes no difference
        and method != "HEAD"
    }
    assert not unknown


def test_every_route_on_the_allow_list_exists(routes):
    there = {f"{method} {path}" for method, path in routes} | {f"POST {PREDICT}"}
    assert {*ALLOWED, MCP[0]} <= there
