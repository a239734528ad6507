"""Starts decoding processes; a server keeps one started in advance.

A process takes half a second to start and to import its libraries. So a server keeps one waiting
for the next task (``KEPT.keep()``). Elsewhere, every task starts its own process.
"""

from __future__ import annotations

import os
import queue
import subprocess
import sys
import tempfile
import threading
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path
from typing import IO

# Environment variables that a decoding process gets. None of them holds a token or key.
PASSED_ON = ("PATH", "LD_LIBRARY_PATH", "SYSTEMROOT", "TEMP", "TMP")
# One thread is enough for numpy, which only copies arrays in a decoding process.
FEW_THREADS = {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
START = (
    "import sys; sys.path += sys.argv[1:]; from gleanvid.video.isolation.worker import main; main()"
)
_HOME = Path(__file__).resolve().parents[3]  # folder that contains this gleanvid package
_PACKAGES = ("numpy", "av", "decord", "cv2", "torch", "torchcodec")  # packages that decoders import


def import_folders() -> list[str]:
    """Return the folders from which a decoding process may import the decoders and gleanvid.

    They are only a part of ``sys.path``, which also has the folder of the caller's script. A file
    ``random.py`` there must not be imported in place of Python's.
    """
    found = [_HOME]
    for name in _PACKAGES:
        with suppress(ImportError, ValueError):  # a module without a spec raises ValueError
            spec = find_spec(name)
            inside = spec.submodule_search_locations if spec else None
            found += [Path(folder).resolve().parent for folder in inside or ()]
    # Keep the order of sys.path: the first folder that has a module is used.
    order = [Path(entry).resolve() for entry in sys.path]
    ordered = [folder for folder in order if folder in found] + found
    return [str(folder) for folder in dict.fromkeys(ordered)]


class Decoder:
    """A process that does one task, such as decoding a file, and ends."""

    def __init__(self) -> None:
        environment = {name: os.environ[name] for name in PASSED_ON if name in os.environ}
        self._errors: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115  # closed by end
        try:
            self.process = subprocess.Popen(
                # -B: write no .pyc files, which the limit on file size could cut off.
                [sys.executable, "-I", "-S", "-B", "-c", START, *import_folders()],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=self._errors,
                env=environment | FEW_THREADS,
                cwd=Path(sys.executable).anchor,
            )
        except OSError:
            self._errors.close()
            raise
        assert self.process.stdin is not None and self.process.stdout is not None
        self.stdin, self.stdout = self.process.stdin, self.process.stdout

    def threads(self) -> int:
        """Return how many threads the process has, or 0 on systems without ``/proc``."""
        try:
            return os.stat(f"/proc/{self.process.pid}/task").st_nlink - 2
        except OSError:
            return 0

    def complaints(self) -> list[str]:
        """Return the lines that the process wrote to standard error; call this after its end."""
        self._errors.seek(0)
        return self._errors.read(2**16).decode(errors="replace").strip().splitlines()

    def end(self) -> None:
        """Kill the process if it still runs, and close its pipes and temporary file."""
        self.process.kill()
        with suppress(BrokenPipeError):
            self.stdin.close()
        self.stdout.close()
        self.process.wait()
        self._errors.close()


class Spare:
    """Keeps at most one decoding process waiting for a task, because starting one takes time."""

    def __init__(self) -> None:
        self._waiting: queue.SimpleQueue[Decoder] = queue.SimpleQueue()
        self._wanted = threading.Semaphore(0)
        self._keeper: threading.Thread | None = None

    def keep(self) -> None:
        """Keep one process waiting until this program ends."""
        if self._keeper is None:
            self._keeper = threading.Thread(target=self._start, daemon=True)
            self._keeper.start()
            self._wanted.release()

    def take(self) -> Decoder:
        """Return the waiting process, or a new one. Raises ``OSError`` if none can be started."""
        with suppress(queue.Empty):
            decoder = self._waiting.get_nowait()
            if decoder.process.poll() is None:
                return decoder
            decoder.end()
        return Decoder()

    def refill(self) -> None:
        """Start the next waiting process; call this after a task, so as not to slow it down."""
        if self._keeper is not None and self._waiting.empty():
            self._wanted.release()

    def _start(self) -> None:
        """Start a process whenever ``keep`` or ``refill`` requests one.

        This runs in a thread that never ends, because a decoding process is killed when the thread
        that started it ends (PR_SET_PDEATHSIG).
        """
        while self._wanted.acquire():
            if self._waiting.empty():
                with suppress(OSError):
                    self._waiting.put(Decoder())


KEPT = Spare()
