"""Every route of the server is either listed for visitors or refused by name."""

from __future__ import annotations

import pytest
from gradio.routes import App
from starlette.routing import Mount

from components.panels.page import build_app
from components.server import serving
from components.server.routes import ALLOWED, MCP, matcher
from components.session.work.engine import Engine
from tests.components.fake import FakeBackend

G = "/gradio_api"
REFUSED = {  # what Gradio 6.31 brings beside them
    "/openapi.json", "/login", "/logout", "/svelte/{path:path}", "/robots.txt", "/manifest.json",
    "/pwa_icon", "/pwa_icon/{size}", "/monitoring", "/monitoring/summary", "/monitoring/{key}",
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
}  # fmt: skip


@pytest.fixture(scope="module")
def routes():
    """(method, path) of all that the server would answer, those of included routers too."""
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
        and path.rstrip("/") not in REFUSED
        and f"{method} {path.rstrip('/')}" not in allowed  # the twin with a slash at the end
        and method != "HEAD"
    }
    assert not unknown


def test_nothing_is_listed_that_the_server_does_not_have(routes):
    there = {f"{method} {path}" for method, path in routes} | {f"POST {G}/run/predict"}
    assert {*ALLOWED, MCP[0]} <= there


def test_the_list_is_met_by_whole_paths_and_methods_alone():
    allows = matcher(ALLOWED)
    assert allows("GET", "/") and allows("GET", f"{G}/file=/a/b.mp4")
    assert allows("POST", f"{G}/call/ask") and allows("GET", f"{G}/call/ask/17")
    assert allows("POST", f"{G}/call/v2/compare") and allows("GET", f"{G}/file=/a/{127 * 'é'}/b")
    for method, path in [
        ("POST", "/"), ("OPTIONS", f"{G}/queue/join"), ("GET", f"{G}/upload"), ("GET", ""),
        ("POST", f"{G}/process_recording"), ("POST", f"{G}/run/ask"), ("GET", f"{G}/mcp/sse"),
        ("POST", f"{G}/queue/join/"), ("GET", f"{G}/proxy=http://a/"), ("POST", f"{G}/call/ask/b"),
        ("POST", f"{G}/call/on_open"), ("POST", f"{G}/call/v2/on_open"), ("GET", f"{G}/call/a/1"),
        ("GET", f"/static/{256 * 'x'}"), ("GET", f"{G}/file=/a/{128 * 'é'}"),
    ]:  # fmt: skip
        assert not allows(method, path), path
