"""The app's named endpoints on Ray Serve: many replicas, each with an engine of its own.

    serve run components.server.replicas:build model=Qwen/Qwen3-VL-2B-Instruct num_replicas=4

``POST /ask``, ``/compress`` and ``/compare`` take a form with the file ``video`` and the field
``arguments``: JSON with the arguments of the method of :class:`components.server.endpoints.Calls`,
whose result is returned. Every request includes its clip, so any replica can answer it, and no
session is lost with a replica. Requests with the same ``serve_multiplexed_model_id`` header (any
name for the clip) go to the replica that answered the last one, which has the clip encoded. This
works from about a second after the first answer, as Serve updates its router in the background.
"""

from __future__ import annotations

import asyncio
import hashlib
import inspect
import json
import logging
from collections import OrderedDict
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import gradio as gr
import torch
from gradio.utils import get_upload_folder
from ray import serve
from starlette.datastructures import UploadFile
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.types import Message, Receive

from gleanvid import plugins
from gleanvid.cli.model_options import LOADING
from gleanvid.errors import BusyError
from gleanvid.serving.vllm import send_key_to

from ..jobs.display import UNEXPECTED
from ..jobs.engine import CLIPS_REMEMBERED, Engine
from ..jobs.local import LocalBackend
from ..jobs.queue import ModelQueue
from .endpoints import Calls
from .serving import LOCAL

ROUTES = ("ask", "compress", "compare")
# Maximum number of requests in a replica: one uses the model, the others decode clips or wait.
AT_ONCE = 4
WAITING = 64  # maximum number of requests that wait for a replica; more are refused with 503
FILES = 16  # maximum number of uploads kept by a replica

log = logging.getLogger(__name__)


def build(arguments: Mapping[str, Any]) -> Any:
    """Build the Ray Serve application, for ``serve run`` and ``serve.run``.

    ``arguments``: "model" (default: the built-in one), "num_replicas" (1), "num_gpus" of each
    replica (0), "max_frames", "upload_mb", "deadline" in seconds, "plugin" (a file with methods of
    your own, on the disk of every replica), and how the model is loaded: "dtype", "quantization"
    and the other options in ``gleanvid.cli.model_options.LOADING``. Raises ``ValueError`` for any
    other argument.
    """
    readers: Mapping[str, Callable[[Any], Any]] = LOADING | {
        "model": str,
        "num_replicas": int,
        "num_gpus": float,
        "max_frames": int,
        "upload_mb": float,
        "deadline": float,
        "plugin": str,
    }
    for name in arguments:
        if name not in readers:
            raise ValueError(f"{name!r} must be one of {', '.join(readers)}")
    given = {name: readers[name](value) for name, value in arguments.items()}
    count, num_gpus = given.pop("num_replicas", 1), given.pop("num_gpus", 0.0)
    deployment: Any = serve.deployment(
        Replica,
        num_replicas=count,
        ray_actor_options={"num_gpus": num_gpus},
        max_ongoing_requests=AT_ONCE,
        max_queued_requests=WAITING,
    )
    return deployment.bind(**given)


class Replica:
    """A Ray Serve replica: one engine with its loaded model; arguments: see :func:`build`."""

    def __init__(
        self,
        model: str = "builtin",
        max_frames: int = LOCAL.max_frames,
        upload_mb: float = LOCAL.upload_mb,
        deadline: float = LOCAL.deadline_s,
        plugin: str | None = None,
        **loading: Any,
    ) -> None:
        if plugin:
            plugins.load(plugin)
        send_key_to(model)
        self.engine = Engine(LocalBackend({model: loading}), queue=ModelQueue(deadline, AT_ONCE))
        self.calls = Calls(self.engine, [model], max_frames)
        self.upload_bytes = int(upload_mb * 2**20)
        self.files: OrderedDict[Path, None] = OrderedDict()
        self.name = serve.get_replica_context().replica_id.unique_id
        self.engine.model(model)

    def check_health(self) -> None:
        """Raise an error if the GPU has failed; Ray Serve then restarts the replica."""
        model = self.engine.loaded()
        if model is not None and model.device.type == "cuda":
            torch.cuda.synchronize(model.device)

    async def __call__(self, request: Request) -> JSONResponse:
        if request.url.path == "/healthz":
            return self._reply(200, {"ready": True})
        route = request.url.path.rpartition("/")[2]
        if route not in ROUTES or request.method != "POST":
            return self._reply(404, {"error": f"POST to one of {', '.join(ROUTES)}"})
        if key := serve.get_multiplexed_model_id():
            await self._has_clip(key)
        try:
            bounded = Request(request.scope, _bounded(request.receive, self.upload_bytes))
            return self._reply(200, await self._answer(route, bounded))
        except (gr.Error, ValueError, TypeError) as error:
            text = error.message if isinstance(error, gr.Error) else str(error)
            return self._reply(_status(error, text), {"error": text})

    @serve.multiplexed(max_num_models_per_replica=CLIPS_REMEMBERED)
    async def _has_clip(self, key: str) -> str:
        """Tell Serve's router to send further requests about the clip ``key`` to this replica."""
        return key

    async def _answer(self, route: str, request: Request) -> Any:
        async with request.form() as form:
            video, text = form.get("video"), form.get("arguments", "{}")
            if not isinstance(video, UploadFile) or not isinstance(text, str):
                raise ValueError(
                    "send a form with the file field video and the text field arguments"
                )
            arguments = json.loads(text)
            call = getattr(self.calls, route)
            if not isinstance(arguments, dict) or "video" in arguments:
                raise ValueError("arguments must be a JSON object of the endpoint's arguments")
            inspect.signature(call).bind(None, **arguments)
            path = await asyncio.to_thread(self._keep, await video.read())
        return await asyncio.to_thread(call, {"path": str(path)}, **arguments)

    def _keep(self, data: bytes) -> Path:
        """Store the upload under a hash of its content, so that the engine can recognise it."""
        path = Path(get_upload_folder()) / self.name / hashlib.sha256(data).hexdigest()
        if path not in self.files:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)
        self.files[path] = None
        self.files.move_to_end(path)
        while len(self.files) > FILES:
            self.files.popitem(last=False)[0].unlink(missing_ok=True)
        return path

    def _reply(self, status: int, content: Any) -> JSONResponse:
        headers = {"x-gleanvid-replica": self.name}
        if status == 503:
            headers["retry-after"] = "10"
        return JSONResponse(content, status, headers)


class TooLargeError(ValueError):
    """Raised for a request body above the size limit."""


def _bounded(receive: Receive, most: int) -> Receive:
    """Return a ``receive`` that raises :class:`TooLargeError` after ``most`` bytes."""
    seen = 0

    async def bounded() -> Message:
        nonlocal seen
        message = await receive()
        seen += len(message.get("body", b""))
        if seen > most:
            raise TooLargeError("The file is too large for this server.")
        return message

    return bounded


def _status(error: Exception, text: str) -> int:
    if isinstance(error, TooLargeError):
        return 413
    if isinstance(error.__cause__, BusyError):
        return 503
    return 500 if text == UNEXPECTED else 400
