"""Starts decoding processes; a server keeps one started in advance.

A process takes half a second to start and to import its libraries. So a server keeps one waiting
for the next task (``KEPT.keep()``). Elsewhere, every task starts its own process.
"""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path

# Environment variables that a decoding process gets. None of them holds a token or key.
PASSED_ON = ("PATH", "LD_LIBRARY_PATH", "SYSTEMROOT", "TEMP", "TMP")
# One thread is enough for numpy, which only copies arrays in a decoding process.
FEW_THREADS = {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
START = (
    "import sys; sys.path += sys.argv[1:]; from gleanvid.video.isolation.worker import main; main()"
)
# packages that decoders import
_PACKAGES = ("numpy", "av", "decord", "cv2", "PIL", "torch", "torchcodec")


def import_folders() -> list[str]:
    """Return the folders from which a decoding process may import the decoders and gleanvid.

    They are only a part of ``sys.path``, which also has the folder of the caller's script. A file
    ``random.py`` there must not be imported in place of Python's.
    """
    folders = [Path(__file__).resolve().parents[3]]  # has this gleanvid package
    for name in _PACKAGES:
        with suppress(ImportError, ValueError):  # a module without a spec raises ValueError
            spec = find_spec(name)
            folders += [Path(spec.origin).resolve().parents[1]] if spec and spec.origin else []
    # Keep the order of sys.path: the first folder that has a module is used.
    order = [folder for entry in sys.path if (folder := Path(entry).resolve()) in folders]
    return [str(folder) for folder in dict.fromkeys(order + folders)]


class Decoder:
    """A process that does one task, such as decoding a file, and ends."""

    def __init__(self) -> None:
        environment = {name: os.environ[name] for name in PASSED_ON if name in os.environ}
        self.process = subprocess.Popen(
            # -B: write no .pyc files, which the limit on file size would make fail.
            [sys.executable, "-I", "-S", "-B", "-c", START, *import_folders()],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=environment | FEW_THREADS,
            cwd=Path(sys.executable).anchor,
        )
        assert self.process.stdin is not None and self.process.stdout is not None
        self.stdin, self.stdout = self.process.stdin, self.process.stdout

    def end(self) -> None:
        """Kill the process if it still runs, and close its pipes."""
        self.process.kill()
        with suppress(BrokenPipeError):
            self.stdin.close()
        self.stdout.close()
        self.process.wait()


class Spare:
    """Keeps at most one decoding process waiting for a task, because starting one takes time."""

    def __init__(self) -> None:
        # One thread that never ends starts the waiting processes, because a decoding process is
        # killed when the thread that started it ends (PR_SET_PDEATHSIG).
        self._starter: ThreadPoolExecutor | None = None
        self._waiting: Future[Decoder] | None = None
        self._lock = threading.Lock()

    def keep(self) -> None:
        """Keep one process waiting until this program ends."""
        self._starter = self._starter or ThreadPoolExecutor(1)
        self.refill()

    def take(self) -> Decoder:
        """Return the waiting process, or a new one. Raises ``OSError`` if none can be started."""
        with self._lock:
            waiting, self._waiting = self._waiting, None
        if waiting is not None:
            with suppress(OSError):
                decoder = waiting.result()
                if decoder.process.poll() is None:
                    return decoder
                decoder.end()
        return Decoder()

    def refill(self) -> None:
        """Start the next waiting process; call this after a task, so as not to slow it down."""
        with self._lock:
            if self._starter is not None and self._waiting is None:
                self._waiting = self._starter.submit(Decoder)


KEPT = Spare()
