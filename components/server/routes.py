"""Routes added to Gradio's."""

from __future__ import annotations

from pathlib import Path

from starlette.requests import Request
from starlette.responses import JSONResponse, RedirectResponse, Response
from starlette.routing import BaseRoute, Mount, Route
from starlette.staticfiles import StaticFiles

from ..places import DOCS
from ..viewer import modules


def own() -> list[BaseRoute]:
    """Return the routes for a new server; they come before Gradio's."""
    return [
        Route("/healthz", health),
        Route("/modules/{name}", script),
        # A relative redirect keeps the URL path under which a proxy serves the app.
        Route("/docs", lambda request: RedirectResponse("docs/")),
        Mount("/docs", documentation()),
    ]


def documentation() -> StaticFiles:
    """Return an application that serves the built documentation, or 404 if it was not built."""
    files = StaticFiles(directory=DOCS, html=True, check_dir=False)
    files.config_checked = True  # else Starlette fails if the folder is missing
    return files


async def script(request: Request) -> Response:
    """Serve the page's script; cacheable for ever, as its address contains a hash."""
    if request.path_params["name"] != Path(modules.ADDRESS).name:
        return Response("There is no such script. Load the page again.", 404)
    kept = {"cache-control": "public, max-age=31536000, immutable"}
    return Response(modules.SCRIPT, headers=kept, media_type="text/javascript")


async def health(request: Request) -> JSONResponse:
    """Health check; does not use the model."""
    return JSONResponse({"status": "ok"})
