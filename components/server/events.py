"""How many events of each visitor are under way.

A request counts from the moment its body is there until its event is over: a crowd whose bodies
all end at once is counted, too.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager

from .hosts import neighbourhood
from .routes import GRADIO

BEGUN_BY = re.compile(rf"{GRADIO}/(queue/join|call/.*)")  # paths of the requests
TOO_MANY = 429, "Much is under way from your address already. Try again in a minute."


class Events:
    """``most`` of one visitor at once, 0: any number; ``under_way`` has their addresses."""

    def __init__(self, most: int, under_way: Callable[[], Iterable[str]]) -> None:
        self.most, self.under_way = most, under_way
        self._beginning: Counter[str] = Counter()

    @contextmanager
    def begun(self, visitor: str) -> Iterator[bool]:
        """Whether one more may begin; meanwhile it counts."""
        allowed = not self.most or self._count(visitor) < self.most
        self._beginning[visitor] += allowed
        try:
            yield allowed
        finally:
            self._beginning[visitor] -= allowed
            self._beginning += Counter()  # forgets those at zero

    def _count(self, visitor: str) -> int:
        held = sum(neighbourhood(address) == visitor for address in self.under_way())
        return held + self._beginning[visitor]
