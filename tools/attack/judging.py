"""Judge the answers to attempts: what a secure server may reply."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tools.attack.client import ROOT, Target, is_quiet

REFUSALS = range(400, 500)
UNSAID = ("Traceback", "went wrong", '"error": null')  # signs of an unhandled error
# kind of attack, name of the attempt, function that returns whether the server resisted
Attempt = tuple[str, str, Callable[[Target], bool]]


def refused(kind: str, method: str, path: str, **options: Any) -> Attempt:
    """Return an attempt whose request must be refused without revealing the machine."""

    def is_held(target: Target) -> bool:
        got = target.send(method, path, **options)
        is_shared = "access-control-allow-origin" in got.headers
        return got.status_code in REFUSALS and is_quiet(got.content) and not is_shared

    return kind, f"{method} {path[:60]} {str(options)[:60]}", is_held


def wire(kind: str, begun: bytes, *starts: bytes) -> Attempt:
    """Return an attempt that sends raw bytes.

    The server must refuse them, or answer with a line that begins with one of ``starts``.
    """

    def is_held(target: Target) -> bool:
        try:
            with target.connect(begun) as line:
                line.settimeout(5)
                got = line.recv(2**16)
        except ConnectionError:
            got = b""
        expected = (b"HTTP/1.1 4", b"HTTP/1.1 507", *starts)
        return not got or (got.startswith(expected) and is_quiet(got))

    return kind, begun.decode("latin-1")[:120], is_held


def reply(
    kind: str, name: str, act: Callable[[Target], str], *lacks: str, has: str = ""
) -> Attempt:
    """Return an attempt whose reply must contain ``has`` and none of ``lacks``.

    The reply must not reveal anything about the machine either.
    """

    def is_held(target: Target) -> bool:
        text = act(target)
        unwanted = (str(ROOT), *lacks)
        return (
            has in text and is_quiet(text.encode()) and not any(part in text for part in unwanted)
        )

    return kind, name[:60], is_held
