"""Measure memory, file descriptors, threads, child processes and files of a server in use.

    python -m tools.soak --out results/soak

For an hour, three sessions ask, preview, compare and upload, at random with a fixed seed, on a
server with the built-in model and the limits of ``--public``, some of them relaxed. The
measurements are written to ``soak.json`` and drawn in ``soak.png``. Exits with 1 if an action
failed, or if a quantity grew by more than ``MOST`` after the warm-up that fills the caches.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import random
import secrets
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any

from tools.attack.client import CLIP, ROOT, Target, file

MOST = {"resident_mib": 20, "descriptors": 10, "threads": 5, "children": 2, "files": 300}
SESSIONS = 3
# Age in seconds at which uploads are deleted. With --public it is two hours: in an hour of the
# soak, files would only pile up.
KEEP_S = 120
ROUND = 8  # actions of a session between two measurements
REST_S = 1.0  # seconds without requests before each measurement
WINDOW = 0.2  # fraction of the run at its start and its end whose medians are compared
ACTIONS = {"preview": 4, "ask": 3, "upload": 2, "compare": 1}  # relative frequency of each action
COLUMNS = {
    "resident_mib": "Resident memory (MiB)",
    "descriptors": "Open descriptors",
    "threads": "Threads",
    "children": "Child processes",
    "files": "Files of visitors",
}
QUESTIONS = ("What moves?", "Which colour does the cross have?", "What does the star do?")
SMALL = {"Frames": 8, "Answer length": 8}


def serve(runs: int) -> None:
    """Serve the page with the built-in model until standard input ends; print its address."""
    from components.server.serving import PUBLIC
    from components.session.examples import examples
    from components.session.work.engine import Engine
    from components.session.work.local import LocalBackend
    from components.session.work.store import RunStore
    from tests.server.running import running

    limits = replace(PUBLIC, keep_s=KEEP_S, visitor_mb=0, requests_per_minute=6000, events=0)
    engine = Engine(LocalBackend({}), RunStore(most=runs))
    with running(limits, engine, examples=examples()) as url:
        print(url, flush=True)
        sys.stdin.read()


def act(kind: str, target: Target, session: str, draw: random.Random) -> None:
    """Do one random action as the page does. Raises ``RuntimeError`` if the server fails."""
    clips = sorted((ROOT / "assets" / "clips").glob("glimpse*.mp4"))
    clip, question = draw.choice(clips), draw.choice(QUESTIONS)
    settings = SMALL | {"gv-clip": file(str(clip)), "gv-question": question}
    settings["Frames"] = draw.choice((6, 8, 10))
    if kind == "upload":
        path = target.upload(f"{draw.randrange(10**9)}.mp4", CLIP.read_bytes())
        event = "gv-upload", "upload", SMALL | {"gv-upload": file(path)}
    elif kind == "preview":
        event = "gv-preview", "follow", settings
    else:
        button = {"ask": "gv-ask", "compare": "gv-compare-start"}[kind]
        begun = target.page(button, "click", {}, session)
        if '"success":true' not in begun:
            raise RuntimeError(f"{kind} is not begun: {begun[-500:]}")
        methods = [draw.choice(("uniform", "vidcom2", "gleanvid"))]
        event = button, "work", settings | {"gv-methods": methods}
    heard = target.page(*event, session)
    if '"success":true' not in heard or '"problem"' in heard:
        raise RuntimeError(f"{kind} failed: {heard[-500:]}")


def measured(process: int, folder: Path) -> dict[str, float]:
    """Measure memory, descriptors and threads of the server, and count the files in ``folder``."""
    root = Path(f"/proc/{process}")
    pages = int((root / "statm").read_text().split()[1])
    children = [
        child
        for task in (root / "task").iterdir()
        for child in (task / "children").read_text().split()
    ]
    return {
        "resident_mib": pages * os.sysconf("SC_PAGE_SIZE") / 2**20,
        "descriptors": len(list((root / "fd").iterdir())),
        "threads": len(list((root / "task").iterdir())),
        "children": len(children),
        "files": sum(path.is_file() for path in folder.rglob("*")),
    }


def soak(
    url: str, process: int, folder: Path, actions: int, warm: int, most_s: float
) -> dict[str, Any]:
    """Let all sessions do ``ROUND`` actions each, then measure at rest; repeat to the end.

    Memory is not measured while requests run: it varies by 100 MiB then.
    """
    rows: list[dict[str, float]] = []
    done: Counter[str] = Counter()
    failures: list[str] = []

    def visit(target: Target, session: str, draw: random.Random) -> None:
        for kind in draw.choices([*ACTIONS], [*ACTIONS.values()], k=ROUND):
            try:
                act(kind, target, session, draw)
            except Exception as error:
                failures.append(f"{kind}: {error}"[:300])
            with lock:
                done[kind] += 1

    lock, start = threading.Lock(), time.monotonic()
    numbers = range(SESSIONS)
    sessions = [Target(url) for _ in numbers], [secrets.token_hex(8) for _ in numbers]
    draws = [random.Random(number) for number in numbers]
    with ThreadPoolExecutor(SESSIONS) as pool:
        while done.total() < warm + actions and time.monotonic() - start < most_s:
            list(pool.map(visit, *sessions, draws))
            time.sleep(REST_S)
            rows.append({"s": time.monotonic() - start, "done": done.total()})
            rows[-1] |= measured(process, folder)
            if len(rows) % 6 == 1:
                print(json.dumps(rows[-1]), flush=True)
    kept = [row for row in rows if row["done"] >= warm]
    return {"done": dict(done), "failures": failures, "warm": warm, "rows": rows} | grown(kept)


def grown(rows: list[dict[str, float]]) -> dict[str, Any]:
    """Return medians of every measured quantity, at the start and at the end of ``rows``."""
    size = max(3, int(len(rows) * WINDOW))

    def medians(part: list[dict[str, float]]) -> dict[str, float]:
        return {name: round(statistics.median(row[name] for row in part), 1) for name in COLUMNS}

    return {"first": medians(rows[:size]), "last": medians(rows[-size:])}


def draw_figure(found: dict[str, Any], path: Path) -> None:
    """Plot each measured quantity against the number of actions; shade the warm-up."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(8, 9), layout="tight")
    axes = figure.subplots(len(COLUMNS), 1, sharex=True)
    done = [row["done"] for row in found["rows"]]
    for axis, (name, title) in zip(axes, COLUMNS.items(), strict=True):
        values = [row[name] for row in found["rows"]]
        axis.plot(done, values, color="#2a6f97", linewidth=1)
        axis.axvspan(0, found["warm"], color="0.92")
        axis.set_title(title, loc="left", fontsize=9)
        axis.set_ylim(0, max(values) * 1.15 or 1)
    axes[-1].set_xlabel("Actions done by three sessions (shaded: warm-up)")
    figure.savefig(path, dpi=110)


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--actions", type=int, default=1000)
    parser.add_argument(
        "--warm", type=int, default=500, help="number of actions to warm up, until caches are full"
    )
    parser.add_argument(
        "--runs", type=int, default=128, help="number of runs that the server stores"
    )
    parser.add_argument(
        "--minutes", type=float, default=60.0, help="start no action after so many minutes"
    )
    parser.add_argument(
        "--out", type=Path, required=True, help="output folder for soak.json and soak.png"
    )
    parser.add_argument("--serve", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    if options.serve:
        serve(options.runs)
        return 0
    load = os.getloadavg()[0]
    with ExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory())
        words = [
            sys.executable,
            "-m",
            "tools.soak",
            *f"--serve --out . --runs {options.runs}".split(),
        ]
        given: Any = {"cwd": ROOT, "env": os.environ | {"GRADIO_TEMP_DIR": folder}, "text": True}
        pipe = subprocess.PIPE
        server = stack.enter_context(subprocess.Popen(words, stdin=pipe, stdout=pipe, **given))
        stack.callback(server.terminate)
        assert server.stdout is not None
        url = server.stdout.readline().strip()
        most_s = 60 * options.minutes
        found = soak(url, server.pid, Path(folder), options.actions, options.warm, most_s)
    found |= {"load": [load, os.getloadavg()[0]], "python": platform.python_version()}
    found |= {"cores": os.cpu_count(), "runs": options.runs, "platform": platform.platform()}
    options.out.mkdir(parents=True, exist_ok=True)
    (options.out / "soak.json").write_text(json.dumps(found, indent=1) + "\n")
    draw_figure(found, options.out / "soak.png")
    for name, title in COLUMNS.items():
        print(f"{title:<24}{found['first'][name]:>10}{found['last'][name]:>10}")
    print(f"{found['done']}; {len(found['failures'])} failed: {found['failures'][:3]}")
    growth = {name: found["last"][name] - found["first"][name] for name in COLUMNS}
    return int(any(growth[name] > most for name, most in MOST.items()) or bool(found["failures"]))


if __name__ == "__main__":
    sys.exit(main())
