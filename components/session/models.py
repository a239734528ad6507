"""The models in memory: the one asked last, and the one before where both have room."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

from .line import BusyError
from .rates import Pause, in_words

STAYS = "{name} is in use. Another model can be asked in {time}."
HELD = 2  # where there is room


class Models:
    """``load`` makes the named model; ``room`` says whether one has room beside those in memory.

    Where it has none, whoever asks for another model has it loaded while all others wait. So a
    model that took the place of another keeps it for ``stay_s`` seconds. Without ``room`` one model
    is held at a time.
    """

    def __init__(
        self,
        load: Callable[[str], Any],
        room: Callable[[str], bool] | None = None,
        stay_s: float = 0.0,
    ) -> None:
        self._load, self._room, self._stay = load, room, Pause(stay_s)
        self._lock = threading.Lock()  # held for minutes; nothing else may wait for it
        self.held: dict[str, Any] = {}  # by name, the one asked last at the end

    def get(self, name: str) -> Any:
        """The named model, loaded where it is not there.

        Raises what loading raises, and ``BusyError`` while another one stays.
        """
        with self._lock:
            if name in self.held:
                return self._keep(name, self.held[name])
            if not self.held or (self._room and self._room(name)):
                return self._keep(name, self._load(name))
            if left_s := self._stay.left_s:
                raise BusyError(STAYS.format(name=next(reversed(self.held)), time=in_words(left_s)))
            self.held = {}
            try:
                return self._keep(name, self._load(name))
            finally:  # also after a failure, which made the others wait as long
                self._stay.begin()

    def put(self, name: str, model: Any) -> None:
        """Have a model that was loaded beside them as the one asked last."""
        with self._lock:
            if self._room is None:
                self.held = {}
            self._keep(name, model)
            self._stay.begin()

    def empty(self) -> None:
        """Let all go."""
        with self._lock:
            self.held = {}

    def _keep(self, name: str, model: Any) -> Any:
        others = {known: held for known, held in self.held.items() if known != name}
        self.held = dict([*others.items(), (name, model)][-HELD:])
        return model
