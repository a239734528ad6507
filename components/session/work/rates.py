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
        left = self._held(address)
        allowed = left >= cost
        self._left[address] = (left - cost if allowed else left, self.clock())
        return allowed

    def wait_s(self, address: str, cost: float = 1.0) -> float:
        """Seconds until so much is there; 0 where it is."""
        return max(0.0, cost - self._held(address)) * self.period_s / self.most

    def _held(self, address: str) -> float:
        now = self.clock()
        left, since = self._left.get(address, (float(self.most), now))
        return min(self.most, left + (now - since) * self.most / self.period_s)
