"""``GET /gleanvid/records``: what a server's videos kept, for those who want to look.

vLLM loads it where its environment names the plug-in: ``VLLM_PLUGINS=gleanvid``.
"""

from __future__ import annotations

from typing import Any


class RecordsEndpoint:
    """An endpoint plug-in in the sense of vLLM."""

    name = "gleanvid"
    required_tasks = ("generate",)

    def attach_router(self, app: Any) -> None:
        """Add the route."""
        from fastapi import HTTPException

        async def records(since: int = 0, uuid: str | None = None) -> Any:
            """The method, the rate, the number of records so far, and those behind ``since``.

            With ``uuid``: those of the videos to which requests gave it.
            """
            engine = app.state.gleanvid_engine
            config = engine.vllm_config.model_config
            if getattr(config.hf_config, "gleanvid", None) is None:
                raise HTTPException(404, "this server was started without a method of GleanVID")
            found = await engine.collective_rpc("gleanvid_records", args=(since, uuid))
            return found[0] | {"pruning_rate": config.multimodal_config.video_pruning_rate}

        app.add_api_route("/gleanvid/records", records, methods=["GET"])

    async def init_state(self, engine_client: Any, state: Any, args: Any) -> None:
        """Keep the engine, whose workers are asked."""
        state.gleanvid_engine = engine_client
