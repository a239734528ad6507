"""Attempts with the choice of a model, where a server offers one."""

from __future__ import annotations

from tests.server.oddities import quiet_text
from tests.server.target import Listed, Target


def everything() -> Listed:
    for name in (
        "/etc", "/etc/passwd", "../../../etc", "~root", "/proc/self/root", "\0", "file:///etc",
        "vllm:http://127.0.0.1:1", "vllm:file:///etc/passwd", "x" * 10_000, "", "builtin@2bit",
    ):  # fmt: skip

        def load(target: Target, name: str = name) -> bool:
            if not offers(target):
                return True
            told = target.page("Load", "click", {"Checkpoint": name})
            return "is ready" not in told and "went wrong" not in told and quiet_text(told)

        yield "choosing", f"load {name[:30]!r}", load


def offers(target: Target) -> bool:
    """Whether visitors can load models: those of a private server can."""
    return any(part["props"].get("label") == "Checkpoint" for part in target.config["components"])
