"""How much an address may have of something: a token bucket for each."""

from __future__ import annotations

import time
from collections.abc import Callable

from cachetools import LRUCache

ADDRESSES = 10_000  # that are remembered
MINUTE_S = 60.0


class RateLimit:
    """A full bucket holds ``most``, requests or bytes, and fills up again within ``period_s``."""

    def __init__(
        self,
        most: int,
        period_s: float = MINUTE_S,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.most, self.period_s, self.clock = most, period_s, clock
        self._left: LRUCache[str, tuple[float, float]] = LRUCache(ADDRESSES)  # how much, since when

    def allows(self, address: str, cost: float = 1.0) -> bool:
        now = self.clock()
        left, since = self._left.pop(address, (float(self.most), now))
        left = min(self.most, left + (now - since) * self.most / self.period_s)
        allowed = left >= cost
        self._left[address] = (left - cost if allowed else left, now)
        return allowed
