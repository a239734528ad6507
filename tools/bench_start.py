"""Measure the start of commands and of the page: ``python -m tools.bench_start --out FILE``.

Every round runs every command once, so that other load on the machine affects all commands. The
table gives ratios of medians to the median of ``import gradio``, which the page needs. Processor
seconds depend less on other load.
"""

import argparse
import math
import os
import resource
import socket
import subprocess
import sys
import time
from pathlib import Path
from statistics import median
from urllib.error import URLError
from urllib.request import urlopen

ROOT = Path(__file__).parents[1]
LIMIT_S = 180.0
PYTHON = [sys.executable]
COMMANDS = {
    "import gradio": ["-c", "import gradio"],
    "import gleanvid": ["-c", "import gleanvid"],
    "gleanvid --help": ["-m", "gleanvid.cli", "--help"],
    "gleanvid models": ["-m", "gleanvid.cli", "models"],
}
LINE, PAGE = "page: a line on the terminal", "page: served"


def processor_s() -> float:
    """Return the processor seconds of all commands that have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def run(words: list[str]) -> float:
    started = time.perf_counter()
    subprocess.run([*PYTHON, *words], check=True, cwd=ROOT, stdout=subprocess.DEVNULL)
    return time.perf_counter() - started


def serve() -> tuple[float, float]:
    """Return seconds until ``app.py`` prints its first line, and until it serves the page."""
    port = free_port()
    started = time.perf_counter()
    words = ["app.py", "--port", str(port), "--device", "cpu"]
    # Hide errors that the server prints when it is stopped.
    ends = {"stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL}
    with subprocess.Popen([*PYTHON, *words], cwd=ROOT, **ends) as page:
        try:
            assert page.stdout is not None and page.stdout.readline()
            line_s = time.perf_counter() - started
            while not answers(port):
                if page.poll() is not None or time.perf_counter() - started > LIMIT_S:
                    raise RuntimeError("the page was not served")
                time.sleep(0.02)
            return line_s, time.perf_counter() - started
        finally:
            page.terminate()


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def answers(port: int) -> bool:
    try:
        with urlopen(f"http://127.0.0.1:{port}/", timeout=LIMIT_S) as page:
            return bool(page.read(1))
    except URLError:
        return False


def measure(rounds: int) -> dict[str, list[tuple[float, float]]]:
    """Return (seconds, processor seconds) of every round by command, after one warm-up round."""
    found: dict[str, list[tuple[float, float]]] = {name: [] for name in (*COMMANDS, LINE, PAGE)}
    for number in range(rounds + 1):
        taken = {}
        for name, words in COMMANDS.items():
            before = processor_s()
            taken[name] = run(words), processor_s() - before
        before = processor_s()
        line_s, page_s = serve()
        taken[LINE], taken[PAGE] = (line_s, math.nan), (page_s, processor_s() - before)
        for name, values in taken.items():
            if number:
                found[name].append(values)
    return found


def table(found: dict[str, list[tuple[float, float]]], load: float) -> str:
    """Format the medians and their ratios to ``import gradio`` in aligned columns."""
    lines = [
        "python -m tools.bench_start",
        f"cores {os.cpu_count()}, load before {load:.1f}; {len(found[PAGE])} rounds, medians",
        "Aims on idle cores: page served within 1.3 times import gradio, other lines within 0.5 s.",
        "",
        f"{'':<30}{'s':>8}{'x gradio':>10}{'processor s':>14}{'x gradio':>10}",
    ]
    base = [median(column) for column in zip(*found["import gradio"], strict=True)]
    for name, values in found.items():
        seconds, work = (median(column) for column in zip(*values, strict=True))
        text = f"{name:<30}{seconds:>8.2f}{seconds / base[0]:>10.2f}"
        lines.append(text if math.isnan(work) else f"{text}{work:>14.2f}{work / base[1]:>10.2f}")
    return "\n".join(lines) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--out", type=Path, help="file to write the table to")
    options = parser.parse_args()
    load = os.getloadavg()[0]
    text = table(measure(options.rounds), load)
    print(text)
    if options.out:
        options.out.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
