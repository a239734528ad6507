"""How long a visitor waits beside another's clip that takes minutes to decode.

    python -m tests.server.beside

The clip is a GIF of 400 frames of 8000 x 4000 pixels in less than 10 MB. A second visitor asks the
built-in model about a short clip, alone and beside it; the longest wait may be 1 s more.
"""

from __future__ import annotations

import argparse
import io
import os
import signal
import statistics
import struct
import sys
import tempfile
import threading
import time
from contextlib import suppress
from pathlib import Path

from PIL import Image

from components.server import serving
from components.session.work import local as loading
from components.session.work.engine import Engine
from components.session.work.queue import Line
from tests.server.running import alive, running
from tests.server.target import Target

ROOT = Path(__file__).resolve().parents[2]
SHORT = ROOT / "assets" / "clips" / "glimpse_1.mp4"
MOST_S = 1.0
WORKER = b"gleanvid.video.worker"


def gif(width: int, height: int, frames: int) -> bytes:
    """A GIF of equal frames, compressed once."""
    one = io.BytesIO()
    Image.new("P", (width, height)).save(one, "GIF", optimize=False)
    content = one.getvalue()
    start = content.index(b"\x2c" + struct.pack("<HHHH", 0, 0, width, height))
    picture = content[start:-1]
    control = b"\x21\xf9\x04\x00\x05\x00\x00\x00"  # shown for 50 ms
    return content[:start] + (control + picture) * frames + b"\x3b"


def waits(target: Target, path: str, asks: int) -> list[float]:
    """Seconds of each of so many questions."""
    taken = []
    for _ in range(asks):
        start = time.monotonic()
        told = target.ask(path, compressor="gleanvid", frames=8, length=8)
        taken.append(time.monotonic() - start)
        if "event: complete" not in told:
            raise RuntimeError(told[:200])
    return taken


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--width", type=int, default=8000)
    parser.add_argument("--height", type=int, default=4000)
    parser.add_argument("--frames", type=int, default=400)
    parser.add_argument("--asks", type=int, default=10)
    options = parser.parse_args(arguments)
    slow = gif(options.width, options.height, options.frames)
    limits = serving.PUBLIC
    engine = Engine(loading.LocalBackend({}), line=Line(limits.deadline_s, limits.places))
    with tempfile.TemporaryDirectory() as folder:
        os.environ["GRADIO_TEMP_DIR"] = folder
        with running(limits, engine) as url, Target(url) as one, Target(url) as other:
            short = one.upload("short.mp4", SHORT.read_bytes()).json()[0]
            long = other.upload("long.gif", slow).json()[0]
            waits(one, short, 2)
            alone = waits(one, short, options.asks)
            reading = threading.Thread(target=lambda: other.ask(long))
            reading.start()
            while not (decoders := alive(WORKER)):
                time.sleep(0.02)
            beside = waits(one, short, options.asks)
            still = bool(alive(WORKER))
            for decoder in decoders:  # it has done its part
                with suppress(ProcessLookupError):
                    os.kill(decoder, signal.SIGKILL)
            reading.join()
    print(f"a clip of {len(slow) / 1e6:.1f} MB; still read at the end: {still}")
    for name, taken in (("alone", alone), ("beside", beside)):
        print(f"{name:<7} median {statistics.median(taken):.2f} s, longest {max(taken):.2f} s")
    return int(not still or max(beside) - statistics.median(alone) > MOST_S)


if __name__ == "__main__":
    sys.exit(main())
