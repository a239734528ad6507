"""How much an address may have of something, a token bucket for each; and how often anybody may."""

from __future__ import annotations

import math
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


class Pause:
    """``length_s`` seconds after each :meth:`begin`."""

    def __init__(self, length_s: float, clock: Callable[[], float] = time.monotonic) -> None:
        self.length_s, self.clock = length_s, clock
        self._over = -math.inf

    def begin(self) -> None:
        self._over = self.clock() + self.length_s

    @property
    def left_s(self) -> float:
        """0 once it is over."""
        return max(0.0, self._over - self.clock())


def in_words(seconds: float) -> str:
    """A time to wait: seconds up to two minutes, then minutes, rounded up."""
    whole = math.ceil(seconds)
    if whole > 120:
        return f"{math.ceil(whole / 60)} minutes"
    return "1 second" if whole == 1 else f"{whole} seconds"
