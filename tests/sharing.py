"""While a test marked ``alone`` runs, no other process runs a test."""

import fcntl
import tempfile
from contextlib import contextmanager
from pathlib import Path


class Machine:
    """Two lock files that all processes of the test run ``name`` share.

    Most tests share the second lock; a test marked ``alone`` takes it exclusively. While such a
    test waits, it holds the first lock, so that no further tests begin.
    """

    def __init__(self, name):
        self._paths = [Path(tempfile.gettempdir()) / f"{name}.{part}" for part in ("gate", "lock")]
        self._gate, self._lock = (path.open("w") for path in self._paths)

    @contextmanager
    def used(self, alone):
        fcntl.flock(self._gate, fcntl.LOCK_EX)
        fcntl.flock(self._lock, fcntl.LOCK_EX if alone else fcntl.LOCK_SH)
        fcntl.flock(self._gate, fcntl.LOCK_UN)
        try:
            yield
        finally:
            fcntl.flock(self._lock, fcntl.LOCK_UN)

    def close(self):
        """Delete the lock files; other processes go on using the locks that they have opened."""
        for file, path in zip((self._gate, self._lock), self._paths, strict=True):
            file.close()
            path.unlink(missing_ok=True)
