"""Keeps loaded models in memory, up to a limit."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

from .local import PHOTOS
from .recorded import PREFIX

SMALL = 2  # maximum number of recordings and photo encoders in memory


class Models:
    """At most ``most`` models in memory; the least recently used one is unloaded.

    Recordings and the photo encoder are small. They have a limit of their own and never cause a
    larger model to be unloaded. While a model is being loaded, all other requests for models wait.
    """

    def __init__(self, load: Callable[[str], Any], most: int = 1) -> None:
        self._load, self._most = load, most
        # Loading holds this lock for minutes, so quick look-ups must not take it.
        self._lock = threading.Lock()
        self.held: dict[str, Any] = {}  # loaded models by name, the most recently used last
        self.seen: set[str] = set()  # names of all models loaded since the start

    def get(self, name: str) -> Any:
        """Return the named model, loaded if it is not in memory. Raises the errors of loading."""
        with self._lock:
            if name not in self.held:
                self._make_room(name)
            return self._keep(name, self.held[name] if name in self.held else self._load(name))

    def put(self, name: str, model: Any) -> None:
        """Add a model that the caller has loaded, as the most recently used one."""
        with self._lock:
            self._make_room(name)
            self._keep(name, model)

    def empty(self) -> None:
        with self._lock:
            self.held = {}

    def _make_room(self, name: str) -> None:
        alike = [known for known in self.held if _is_small(known) == _is_small(name)]
        most = SMALL if _is_small(name) else self._most
        unloaded = alike[: max(0, len(alike) - most + 1)]
        self.held = {known: one for known, one in self.held.items() if known not in unloaded}

    def _keep(self, name: str, model: Any) -> Any:
        others = {known: one for known, one in self.held.items() if known != name}
        self.held = others | {name: model}
        self.seen.add(name)
        return model


def _is_small(name: str) -> bool:
    return name == PHOTOS or name.startswith(PREFIX)
