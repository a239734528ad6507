"""``GET /gleanvid/records``: which tokens of videos and pruned images a vLLM server kept.

vLLM loads this endpoint if its environment names the plug-in: ``VLLM_PLUGINS=gleanvid``. The
endpoint checks the API key itself (``--api-key``, else ``VLLM_API_KEY``), because vLLM checks keys
on its own paths only.
"""

from __future__ import annotations

import os
import secrets
from collections.abc import Sequence
from typing import Any


class RecordsEndpoint:
    """vLLM endpoint plug-in that serves the records of kept tokens."""

    name = "gleanvid"
    required_tasks = ("generate",)

    def attach_router(self, app: Any) -> None:
        from fastapi import Header, HTTPException

        from gleanvid.serving.vllm.start import WORKER

        async def records(
            since: int = 0, uuid: str | None = None, authorization: str = Header("")
        ) -> Any:
            """Return the method, the pruning rate and the records numbered above ``since``.

            ``uuid``: return only the records of the video or image with this uuid. In the
            response, "count" is the number of records so far, and "seconds" the total time that
            the engine's thread spent choosing tokens.
            """
            if not is_allowed(authorization, app.state.gleanvid_keys):
                raise HTTPException(401, "this server requires its API key")
            engine = app.state.gleanvid_engine
            config = engine.vllm_config.model_config
            if getattr(config.hf_config, "gleanvid", None) is None:
                raise HTTPException(404, "this server was started without a compressor of GleanVID")
            if engine.vllm_config.parallel_config.worker_extension_cls != WORKER:
                raise HTTPException(
                    404, "records are not available: another --worker-extension-cls is in use"
                )
            found = await engine.collective_rpc("gleanvid_records", args=(since, uuid))
            return found[0] | {"pruning_rate": config.multimodal_config.video_pruning_rate}

        app.add_api_route("/gleanvid/records", records, methods=["GET"])

    async def init_state(self, engine_client: Any, state: Any, args: Any) -> None:
        """Store vLLM's engine and the server's API keys for later requests."""
        state.gleanvid_engine = engine_client
        given = getattr(args, "api_key", None) or [os.environ.get("VLLM_API_KEY")]
        state.gleanvid_keys = [key for key in given if key]


def is_allowed(authorization: str, keys: Sequence[str]) -> bool:
    """Return whether an Authorization header has one of ``keys``; True if ``keys`` is empty."""
    scheme, _, given = authorization.partition(" ")
    same = [secrets.compare_digest(given.encode(), key.encode()) for key in keys]
    return not keys or (scheme.lower() == "bearer" and any(same))
