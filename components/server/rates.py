"""How many requests an address may make: a token bucket for each."""

from __future__ import annotations

import time
from collections.abc import Callable

from cachetools import LRUCache

ADDRESSES = 10_000  # whose rate is remembered


class RateLimit:
    """A token bucket for every address; a full one holds the requests of one minute."""

    def __init__(self, per_minute: int, clock: Callable[[], float] = time.monotonic) -> None:
        self.per_minute, self.clock = per_minute, clock
        self._left: LRUCache[str, tuple[float, float]] = LRUCache(ADDRESSES)  # requests, since when

    def allows(self, address: str) -> bool:
        now = self.clock()
        left, since = self._left.pop(address, (float(self.per_minute), now))
        left = min(self.per_minute, left + (now - since) * self.per_minute / 60)
        self._left[address] = (left - (left >= 1), now)
        return left >= 1
