"""Measure the time that the server's request checks add to a request.

    python -m tools.bench_guard

``components.server.guard`` refuses requests by host, origin, route, size and rate. Requests with
and without these checks alternate. Exits with 1 if a median time with the checks is more than 5 %
above the one without.
"""

from __future__ import annotations

import argparse
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from typing import ClassVar

import httpx
from starlette.types import Receive, Scope, Send

from components.server import serving
from components.server.guard import Guard
from tests.server.running import running
from tools.attack.client import G, Target, file

MOST = 1.05


class Switch(Guard):
    """The server's request checks, which can be switched off here."""

    on: ClassVar[bool] = True

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await (super().__call__ if self.on else self.app)(scope, receive, send)


def requests(client: httpx.Client, target: Target) -> dict[str, Callable[[], object]]:
    path = target.clip
    data = {"data": [file(path), "uniform", 0.5, "", 4, None]}

    def event() -> None:
        begun = client.post(f"{G}/call/compress", json=data).json()["event_id"]
        told = client.get(f"{G}/call/compress/{begun}").text
        if "event: complete" not in told:
            raise RuntimeError(told[:200])

    return {
        "the page": lambda: client.get("/").raise_for_status(),
        "a file": lambda: client.get(f"{G}/file={path}").raise_for_status(),
        "an event": event,
    }


def medians(act: Callable[[], object], rounds: int) -> tuple[float, float]:
    """Return median milliseconds of ``act`` without and with the request checks.

    Every round runs it once without and once with them.
    """
    taken: dict[bool, list[float]] = {False: [], True: []}
    for number in range(2 * rounds):
        Switch.on = (number + number // 2) % 2 == 1  # half of the rounds begin with the checks on
        start = time.perf_counter()
        act()
        taken[Switch.on].append(1000 * (time.perf_counter() - start))
    return statistics.median(taken[False]), statistics.median(taken[True])


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--rounds", type=int, default=200)
    rounds = parser.parse_args(arguments).rounds
    serving.Guard = Switch  # type: ignore[misc]
    worst = 0.0
    with tempfile.TemporaryDirectory() as folder:
        os.environ["GRADIO_TEMP_DIR"] = folder
        with running() as url, httpx.Client(base_url=url) as client:
            for name, act in requests(client, Target(url)).items():
                act()
                without, with_guard = medians(act, rounds)
                worst = max(worst, with_guard / without)
                ratio = with_guard / without
                print(f"{name:<10}{without:8.2f} ms without {with_guard:8.2f} ms with {ratio:6.3f}")
    return int(worst > MOST)


if __name__ == "__main__":
    sys.exit(main())
