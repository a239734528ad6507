"""``GET /gleanvid/records``: what a server's videos kept, for those who want to look.

vLLM loads it where its environment names the plug-in: ``VLLM_PLUGINS=gleanvid``. The keys that
vLLM was started with (``--api-key``, else ``VLLM_API_KEY``) are asked for here, too: its own guard
looks at other paths alone.
"""

from __future__ import annotations

import os
import secrets
from collections.abc import Sequence
from typing import Any

MOST_TOKENS = 2**20  # kept tokens in one answer, about 8 MB


class RecordsEndpoint:
    """An endpoint plug-in in the sense of vLLM."""

    name = "gleanvid"
    required_tasks = ("generate",)

    def attach_router(self, app: Any) -> None:
        """Add the route."""
        from fastapi import Header, HTTPException

        from gleanvid.serving.vllm.start import WORKER

        async def records(
            since: int = 0, uuid: str | None = None, authorization: str = Header("")
        ) -> Any:
            """The method, the rate, the number of records so far, and those behind ``since``.

            ``seconds``: how long the engine's thread has chosen, for all of them together. With
            ``uuid``: those of the videos to which requests gave it.
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
            told = found[0] | {"records": latest(found[0]["records"])}
            return told | {"pruning_rate": config.multimodal_config.video_pruning_rate}

        app.add_api_route("/gleanvid/records", records, methods=["GET"])

    async def init_state(self, engine_client: Any, state: Any, args: Any) -> None:
        """Keep the engine, whose workers are asked, and the keys of the server."""
        state.gleanvid_engine = engine_client
        given = getattr(args, "api_key", None) or [os.environ.get("VLLM_API_KEY")]
        state.gleanvid_keys = [key for key in given if key]


def is_allowed(authorization: str, keys: Sequence[str]) -> bool:
    """Whether a header names one of the keys, where there are any."""
    scheme, _, given = authorization.partition(" ")
    same = [secrets.compare_digest(given.encode(), key.encode()) for key in keys]
    return not keys or (scheme.lower() == "bearer" and any(same))


def latest(records: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """As many of the last records as one answer may hold."""
    told: list[dict[str, Any]] = []
    count = 0
    for record in reversed(records):
        count += len(record["keep"])
        if count > MOST_TOKENS:
            break
        told.insert(0, record)
    return told
