"""Attempts with the choice of a model, where a server offers one."""

from __future__ import annotations

from components.session.choice.choosing import LOOKS
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
    yield "choosing", "looks by the dozen", looks


def offers(target: Target) -> bool:
    """Whether there is a choice at all: a public server has one where its operator offers any."""
    return any(part["props"].get("label") == "Checkpoint" for part in target.config["components"])


def looks(target: Target) -> bool:
    """Whether an address that looks again and again is told to wait."""
    if not offers(target):
        return True
    body = target.event("Checkpoint", "input", {"Checkpoint": "builtin"})
    return any("much was looked at" in target.told(body) for _ in range(3 * LOOKS))
