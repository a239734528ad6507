"""How much an address may have of something: a token bucket for each."""

from __future__ import annotations

import time
from collections.abc import Callable

from cachetools import LRUCache

ADDRESSES = 10_000  # that are remembered
MINUTE_S = 60.0


class RateLimit:
    """Token bucket for each address, of the last ``ADDRESSES``.

    Args:
        most: what a full bucket holds, requests or bytes.
        period_s: seconds in which an empty bucket fills up.
        clock: returns seconds.
    """

    def __init__(
        self, most: int, period_s: float = MINUTE_S, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self.most, self.period_s, self.clock = most, period_s, clock
        self._held: LRUCache[str, tuple[float, float]] = LRUCache(ADDRESSES)  # amount, since when

    def allows(self, address: str, cost: float = 1.0) -> bool:
        """Take ``cost`` from the bucket if it holds so much."""
        amount = self._amount(address)
        allowed = amount >= cost
        self._held[address] = (amount - cost * allowed, self.clock())
        return allowed

    def _amount(self, address: str) -> float:
        amount, since = self._held.get(address, (float(self.most), self.clock()))
        return min(self.most, amount + (self.clock() - since) * self.most / self.period_s)
