"""The models in memory: the one asked last, and the one before where both have room."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

from .queue import BusyError
from .rates import Pause, in_words
from .recorded import PREFIX

STAYS = "{name} is in use. Another model can be asked in {time}."
HELD = 2  # where there is room


class Models:
    """``load`` makes the named model; ``room`` says whether one has room beside those in memory.

    Whoever asks for a model that is not there has it loaded while all others wait. So a model that
    took the place of another keeps it for ``stay_s`` seconds. Without ``room`` one model
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
        self.seen: set[str] = set()  # names of all that were held since the start

    def get(self, name: str) -> Any:
        """The named model, loaded where it is not there.

        Raises what loading raises, and ``BusyError`` while another one stays.
        """
        with self._lock:
            if name in self.held:
                return self._keep(name, self.held[name])
            has_room = self._has_room(name)
            evicts = not has_room or (not _is_light(name) and self._heavy() >= HELD)
            if evicts and (left_s := self._stay.left_s):
                raise BusyError(STAYS.format(name=next(reversed(self.held)), time=in_words(left_s)))
            self.held = self.held if has_room else {}
            try:
                return self._keep(name, self._load(name))
            finally:  # also after a failure, which made the others wait as long
                if evicts:
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

    def _has_room(self, name: str) -> bool:
        if not self.held:
            return True
        return self._room is not None and (_is_light(name) or self._room(name))

    def _heavy(self) -> int:
        return sum(not _is_light(name) for name in self.held)

    def _keep(self, name: str, model: Any) -> Any:
        held = {known: one for known, one in self.held.items() if known != name} | {name: model}
        self.seen.add(name)
        alike = [known for known in held if _is_light(known) == _is_light(name)]
        self.held = {known: one for known, one in held.items() if known not in alike[:-HELD]}
        return model


def _is_light(name: str) -> bool:
    """Whether it is a recording's: no model has to go for what stands in its place."""
    return name.startswith(PREFIX)
