"""``GET /gleanvid/records``: which tokens of its videos a server kept.

vLLM loads this endpoint if its environment names the plug-in: ``VLLM_PLUGINS=gleanvid``. It asks
for the keys that vLLM was started with (``--api-key``, else ``VLLM_API_KEY``), because vLLM checks
them on its own paths only.
"""

from __future__ import annotations

import os
import secrets
from collections.abc import Sequence
from typing import Any

MOST_TOKENS = 2**20  # kept tokens in one answer, about 8 MB


class RecordsEndpoint:
    """Endpoint plug-in of vLLM."""

    name = "gleanvid"
    required_tasks = ("generate",)

    def attach_router(self, app: Any) -> None:
        """Add the route of kept tokens to the server of vLLM."""
        from fastapi import Header, HTTPException

        from gleanvid.serving.vllm.start import WORKER

        async def records(
            since: int = 0, uuid: str | None = None, authorization: str = Header("")
        ) -> Any:
            """Return the method, the rate, the number of records, and those after ``since``.

            ``seconds``: time that the engine's thread spent choosing tokens, for all records.
            ``uuid``: only the records of videos whose request named it.
            """
            if not is_allowed(authorization, app.state.gleanvid_keys):
                raise HTTPException(401, "this server asks for its key")
            engine = app.state.gleanvid_engine
            config = engine.vllm_config.model_config
            if getattr(config.hf_config, "gleanvid", None) is None:
                raise HTTPException(404, "this server was started without a method of GleanVID")
            if engine.vllm_config.parallel_config.worker_extension_cls != WORKER:
                raise HTTPException(404, "another --worker-extension-cls has the place of records")
            found = await engine.collective_rpc("gleanvid_records", args=(since, uuid))
            answer = found[0] | {"records": latest(found[0]["records"])}
            return answer | {"pruning_rate": config.multimodal_config.video_pruning_rate}

        app.add_api_route("/gleanvid/records", records, methods=["GET"])

    async def init_state(self, engine_client: Any, state: Any, args: Any) -> None:
        """Keep the engine and the keys of the server for later requests."""
        state.gleanvid_engine = engine_client
        given = getattr(args, "api_key", None) or [os.environ.get("VLLM_API_KEY")]
        state.gleanvid_keys = [key for key in given if key]


def is_allowed(authorization: str, keys: Sequence[str]) -> bool:
    """Whether a header names one of the keys; true if there are none."""
    scheme, _, given = authorization.partition(" ")
    same = [secrets.compare_digest(given.encode(), key.encode()) for key in keys]
    return not keys or (scheme.lower() == "bearer" and any(same))


def latest(records: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the last records, up to ``MOST_TOKENS`` kept tokens."""
    last: list[dict[str, Any]] = []
    count = 0
    for record in reversed(records):
        count += len(record["keep"])
        if count > MOST_TOKENS:
            break
        last.insert(0, record)
    return last
