"""Memory over many asks of the built-in model: ``python -m tools.soak --asks 500``.

Every question is asked twice: as the page does and as a call of the endpoint, to a server in this
process. The store of runs fills up first; after that the growth has to stay within 20 MiB.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from pathlib import Path

from components.session.actions import ask as asking
from components.session.request import Request, Sides
from components.session.work import local as loading
from components.session.work.engine import Engine
from components.session.work.store import RUNS, RunStore
from tests.server.running import running
from tools.attack.client import Target

CLIP = Path(__file__).resolve().parents[1] / "assets" / "clips" / "glimpse_1.mp4"
MOST_MIB = 20.0
EACH = 50  # asks between two lines of output


def resident_mib() -> float:
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 2**20


def ask(engine: Engine, target: Target, path: str) -> None:
    """One question, in both ways."""
    request = Request(path, 8, "builtin", sampling={"max_new_tokens": 8})
    engine.pages.start("page")
    *_, last = asking.ask(engine, "page", request, Sides(question="What moves?"))
    called = target.ask(path, compressor="gleanvid", frames=8, length=8)
    failed = last.notice is not None and last.notice["kind"] == "problem"
    if failed or "event: complete" not in called:
        raise RuntimeError(f"no answer: {last.notice}, {called[:200]}")


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--asks", type=int, default=500)
    parser.add_argument("--runs", type=int, default=RUNS, help="that the store holds")
    options = parser.parse_args(arguments)
    engine = Engine(loading.LocalBackend({}), RunStore(most=options.runs))
    warm = options.runs // 2 + 10  # an ask of the page makes two runs
    start = 0.0
    with tempfile.TemporaryDirectory() as folder:
        os.environ["GRADIO_TEMP_DIR"] = folder
        with running(engine=engine) as url:
            target = Target(url)
            path = target.upload("clip.mp4", CLIP.read_bytes())
            for number in range(warm + options.asks):
                start = resident_mib() if number == warm else start
                ask(engine, target, path)
                if number % EACH == 0:
                    print(f"after {number:>4} asks {resident_mib():8.1f} MiB", flush=True)
    growth = resident_mib() - start
    print(f"{options.asks} asks after {warm} to warm up: {growth:+.1f} MiB")
    return int(growth > MOST_MIB)


if __name__ == "__main__":
    sys.exit(main())
