"""Memory over many asks of the built-in model: ``python -m tests.server.soak --asks 500``.

The store of runs fills up first; after that the growth has to stay within 20 MiB.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from pathlib import Path

from components.session import actions, loading
from components.session.engine import Engine
from components.session.request import Request
from components.session.store import RUNS, RunStore
from gleanvid.compressors import COMPRESSORS

CLIP = Path(__file__).resolve().parents[2] / "assets" / "clips" / "glimpse_1.mp4"
MOST_MIB = 20.0


def resident_mib() -> float:
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 2**20


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--asks", type=int, default=500)
    parser.add_argument("--runs", type=int, default=RUNS, help="that the store holds")
    options = parser.parse_args(arguments)
    engine = Engine(loading.Library({}), RunStore(most=options.runs))
    sampling = {"max_new_tokens": 8}
    request = Request(str(CLIP), 8, "builtin", COMPRESSORS["gleanvid"], 0, sampling)
    warm = options.runs // 2 + 10  # an ask makes two runs
    start = 0.0
    with tempfile.TemporaryDirectory() as folder:
        os.environ["GRADIO_TEMP_DIR"] = folder
        for number in range(warm + options.asks):
            if number == warm:
                start = resident_mib()
            engine.start("page")
            for _ in actions.ask(engine, "page", request, "What moves?", []):
                pass
    growth = resident_mib() - start
    print(f"{options.asks} asks after {warm} to warm up: {growth:+.1f} MiB")
    return int(growth > MOST_MIB)


if __name__ == "__main__":
    sys.exit(main())
