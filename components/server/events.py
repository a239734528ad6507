"""How many events of each visitor are under way.

A request counts from the moment its body is there until its event is over: a crowd whose bodies
all end at once is counted, too. What Gradio answers outside its queue waits its turn, by visitor.
"""

from __future__ import annotations

import asyncio
import re
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterable, Iterator
from contextlib import asynccontextmanager, contextmanager

from .hosts import neighbourhood
from .routes import GRADIO

BEGUN_BY = re.compile(rf"{GRADIO}/(queue/join|call/.*)")  # paths of the requests
AT_ONCE = f"{GRADIO}/run/predict"  # the path of those that the queue does not hold
TURNS, WAITING = 3, 60  # of one visitor: how many are answered beside each other, and may be sent
TURNS_OF_ALL = 4  # more at once make nothing quicker, and everything else slower
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


class Turns:
    """Of each visitor few requests are answered beside each other, the others in turn.

    They take threads and processors that every visitor needs: all visitors together have
    ``of_all`` places, which they get one after another.
    """

    def __init__(
        self, together: int = TURNS, most: int = WAITING, of_all: int = TURNS_OF_ALL
    ) -> None:
        self.together, self.most = together, most
        self._all = asyncio.Semaphore(of_all)
        self._places: dict[str, asyncio.Semaphore] = {}
        self._sent: Counter[str] = Counter()

    @asynccontextmanager
    async def taken(self, visitor: str) -> AsyncIterator[bool]:
        """Whether the request is taken, once its turn has come."""
        if self._sent[visitor] >= self.most:
            yield False
            return
        self._sent[visitor] += 1
        try:
            own = self._places.setdefault(visitor, asyncio.Semaphore(self.together))
            async with own, self._all:
                yield True
        finally:
            self._sent[visitor] -= 1
            if not self._sent[visitor]:
                del self._sent[visitor], self._places[visitor]
