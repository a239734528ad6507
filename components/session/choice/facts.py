"""What the hub says of checkpoints, kept for a while: looking again asks it nothing."""

from __future__ import annotations

import threading
from typing import Any

from cachetools import TTLCache

KNOWN, KNOWN_S = 64, 300.0  # checkpoints, and for how long each


class Facts:
    """Called as :func:`gleanvid.models.loading.outlook.at_hub` is."""

    def __init__(self) -> None:
        self.known: TTLCache[str, Any] = TTLCache(KNOWN, KNOWN_S)
        self._lock = threading.Lock()

    def __call__(self, source: str, stop: threading.Event | None) -> Any:
        from gleanvid.models.loading.outlook import at_hub

        with self._lock:
            if source in self.known:
                return self.known[source]
        found = at_hub(source, stop)
        with self._lock:
            self.known[source] = found
        return found
