"""Measure time and memory of an hour of video: ``python -m tools.bench_hour --out FILE``.

Two clips with the same picture, ten minutes and an hour long, are compressed on the CPU with 768
sampled frames: by a command with the built-in model, and as an upload to the page in headless
Chromium. The page encodes uploads by MobileNetV2, an image classifier without a language model.
Memory is the largest resident set of the command and of the server, without the process of the
decoder. Needs ffmpeg and Chromium.
"""

from __future__ import annotations

import argparse
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import torch

from gleanvid.evaluation.markdown import markdown_table
from gleanvid.evaluation.provenance import describe_machine, in_words
from tests.browser.steps import answered, more, says
from tools.bench_page import browsing
from tools.bench_start import ROOT, answers, free_port

FRAMES = 768
MINUTES = (10, 60)
PATIENCE_MS = 900_000
PICTURE = "testsrc2=size=640x360:rate=25"


def clip_of(minutes: int, folder: Path) -> Path:
    path = folder / f"{minutes}_minutes.mp4"
    made = ["-f", "lavfi", "-i", PICTURE, "-t", str(60 * minutes), "-preset", "ultrafast", path]
    subprocess.run(["ffmpeg", "-v", "error", *made], check=True)
    return path


def peak_mib(process: int) -> float:
    """Return the largest resident set of a process so far; 0 once it has ended."""
    lines = Path(f"/proc/{process}/status").read_text("utf-8").splitlines()
    return max((int(x.split()[1]) for x in lines if x.startswith("VmHWM")), default=0) / 1024


def command(clip: Path, folder: Path) -> tuple[float, float]:
    """Run ``gleanvid compress``; return its seconds and its peak memory in MiB."""
    words = ["-m", "gleanvid.cli", "compress", str(clip), "--num-frames", str(FRAMES)]
    began, peak = time.perf_counter(), 0.0
    with subprocess.Popen(
        [sys.executable, *words, "--out", str(folder / clip.stem)],
        cwd=ROOT,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    ) as process:
        while process.poll() is None:
            peak = max(peak, peak_mib(process.pid))
            time.sleep(0.05)
    if process.returncode:
        raise RuntimeError(f"gleanvid compress ended with {process.returncode}")
    return time.perf_counter() - began, peak


@contextmanager
def server() -> Iterator[tuple[str, int]]:
    """Yield the address and the process of an app that accepts ``FRAMES`` frames."""
    port = free_port()
    words = ["app.py", "--port", str(port), "--device", "cpu", "--max-frames", str(FRAMES)]
    with subprocess.Popen(
        [sys.executable, *words], cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    ) as process:
        while not answers(port):
            time.sleep(0.1)
        try:
            yield f"http://127.0.0.1:{port}/", process.pid
        finally:
            process.send_signal(signal.SIGTERM)


def page(clip: Path) -> tuple[float, float]:
    """Return seconds until the page shows a clip's kept tokens, and the server's peak MiB."""
    with server() as (url, process), browsing() as browser:
        visit = browser.new_page(viewport={"width": 1400, "height": 900})
        visit.set_default_timeout(PATIENCE_MS)
        visit.goto(url)
        visit.wait_for_selector(".gv-viewer[data-state=ready]")
        more(visit)
        box = visit.get_by_label("number input for Frames")
        box.fill(str(FRAMES))
        box.press("Enter")
        answered(visit, PATIENCE_MS / 1000)
        began = time.perf_counter()
        visit.locator(".gv-examples input[type=file]").set_input_files(clip)
        says(visit, f"of {FRAMES} ·")  # MobileNetV2 makes one unit of each frame
        return time.perf_counter() - began, peak_mib(process)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, required=True, help="file for the table")
    options = parser.parse_args()
    missing = [name for name in ("ffmpeg", "chromium") if not shutil.which(name)]
    if missing:
        raise SystemExit(f"{' and '.join(missing)} not found")
    machine = in_words(describe_machine(torch.device("cpu")))
    rows = []
    with TemporaryDirectory() as folder:
        for minutes in MINUTES:
            clip = clip_of(minutes, Path(folder))
            for way, (seconds, mib) in (
                ("command", command(clip, Path(folder))),
                ("page", page(clip)),
            ):
                rows.append([f"{minutes} minutes", way, f"{seconds:.1f}", f"{mib:.0f}"])
    heads = ["clip", "way", "seconds", "largest resident set (MiB)"]
    text = f"{FRAMES} frames, 640x360, {os.cpu_count()} cores; {machine}\n\n"
    text += markdown_table(heads, rows) + "\n"
    options.out.write_text(text, "utf-8")
    print(text)


if __name__ == "__main__":
    main()
