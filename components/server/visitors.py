"""Identify the visitor behind a request, and limit requests and events per visitor.

A visitor is an IPv4 address or an IPv6 network of 64 bits, as one person gets a whole network.
"""

from __future__ import annotations

import asyncio
import math
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from contextvars import ContextVar
from ipaddress import IPv4Address, IPv6Network, ip_address, ip_network
from typing import Any
from weakref import WeakValueDictionary

from cachetools import LRUCache
from starlette.types import Scope
from uvicorn.middleware.proxy_headers import ProxyHeadersMiddleware

PRIVATE = ("10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "100.64.0.0/10", "fc00::/7")
# Beginnings of names of headers that Gradio would trust from any sender.
FORWARDED = (b"x-forwarded-", b"forwarded", b"x-gradio-server")
SINGLE = (b"host", b"origin", b"x-forwarded-host", b"x-forwarded-proto", b"x-forwarded-prefix")
VISITORS = 10_000  # maximum number of visitors whose request rates are remembered
PREVIEWS = 3  # maximum number of concurrent previews of one visitor
# Maximum number of concurrent previews of all visitors: more would slow down everything.
PREVIEWS_OF_ALL = 4
VISITOR = ContextVar("VISITOR", default="")  # visitor who sent the current request
PREVIEWS_SENT = 60  # maximum number of running and waiting previews of one visitor


def networks(addresses: Sequence[str]) -> tuple[str, ...]:
    """Parse networks such as 10.0.0.0/8. Raises ``ValueError`` naming an invalid one."""
    return tuple(str(ip_network(address, strict=False)) for address in addresses)


def bracketed(address: str) -> str:
    """Return an IP address as written in a URL: IPv6 in brackets."""
    return f"[{address}]" if ":" in address and not address.startswith("[") else address


def visitor(address: str) -> str:
    """Return the key under which requests from this address are counted."""
    try:
        peer = ip_address(address.partition("%")[0])
    except ValueError:
        return address
    if isinstance(peer, IPv4Address):
        return str(peer)
    return str(peer.ipv4_mapped or IPv6Network((peer, 64), strict=False))


def sender(scope: Scope) -> str:
    """Return the client address of a request; empty if unknown."""
    return str((scope.get("client") or ("",))[0])


def doubled(scope: Scope) -> bool:
    """Return whether the host, the origin or a forwarded header occurs more than once.

    Programs disagree on which of two headers with the same name is valid.
    """
    named = [name for name, _ in scope["headers"] if name in SINGLE]
    return len(named) > len(set(named))


class RateLimit:
    """Rate limit by a token bucket for each visitor; remembers the last ``VISITORS`` visitors.

    Args:
        most: number of requests or bytes that a full bucket holds.
        period_s: seconds in which an empty bucket fills up.
        clock: returns seconds.
    """

    def __init__(
        self, most: int, period_s: float = 60.0, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self.most, self.period_s, self.clock = most, period_s, clock
        # for each visitor: amount left in the bucket, and the time of this amount
        self._held: LRUCache[str, tuple[float, float]] = LRUCache(VISITORS)

    def allows(self, name: str, cost: float = 1.0) -> bool:
        """Take ``cost`` from the visitor's bucket; return False if the bucket holds less."""
        now = self.clock()
        amount, since = self._held.get(name, (float(self.most), now))
        amount = min(self.most, amount + (now - since) * self.most / self.period_s)
        allowed = amount >= cost
        self._held[name] = (amount - cost * allowed, now)
        return allowed


def welcomed(scope: Scope) -> str:
    """Return the visitor who sent a request, and store it in the context variable ``VISITOR``."""
    VISITOR.set(name := visitor(sender(scope)))
    return name


class Proxies:
    """Proxies whose ``X-Forwarded`` headers are trusted: addresses or networks."""

    def __init__(self, addresses: Sequence[str] = ()) -> None:
        self._reader = ProxyHeadersMiddleware(nothing, list(addresses))

    def trusts(self, address: str) -> bool:
        return address in self._reader.trusted_hosts

    async def unwrapped(self, scope: Scope) -> Scope:
        """Return a request with the client address and host that a trusted proxy forwards.

        Forwarded headers are removed. From other senders they are ignored, and removed so that
        later code cannot trust them.
        """
        scope = {**scope}
        trusted = self.trusts(sender(scope))
        if trusted:
            await self._reader(scope, nothing, nothing)  # type: ignore[arg-type]
        hosts = [text for name, text in scope["headers"] if name == b"x-forwarded-host"]
        headers = [item for item in scope["headers"] if not item[0].startswith(FORWARDED)]
        if trusted and hosts:
            headers = [item for item in headers if item[0] != b"host"] + [(b"host", hosts[-1])]
        scope["headers"] = headers
        return scope


async def nothing(*arguments: object) -> Any:
    """Do nothing: a placeholder application or ``receive`` function."""


class Events:
    """Limits the Gradio events and previews of each visitor.

    A request counts as soon as its body is complete, before Gradio queues its event. So requests
    that arrive at the same moment cannot exceed the limit.

    Args:
        most: maximum number of waiting and running events of one visitor; 0 for no limit.
        under_way: returns the address of every event that waits or runs in Gradio's queue.
    """

    def __init__(self, most: int, under_way: Callable[[], Iterable[str]]) -> None:
        self.most, self.under_way = most, under_way
        self._beginning: Counter[str] = Counter()
        self._previews: Counter[str] = Counter()
        self._places: WeakValueDictionary[str, asyncio.Semaphore] = WeakValueDictionary()
        self._all = asyncio.Semaphore(PREVIEWS_OF_ALL)

    @contextmanager
    def begin(self, name: str) -> Iterator[bool]:
        """Count one more event of this visitor; yield whether the limit allows it."""
        queued = sum(visitor(address) == name for address in self.under_way())
        most = self.most - queued if self.most else math.inf
        with one_more(self._beginning, name, most) as allowed:
            yield allowed

    @asynccontextmanager
    async def preview(self, name: str) -> AsyncIterator[bool]:
        """Wait until a preview may run; yield False if too many previews of this visitor wait.

        Previews bypass Gradio's queue, so nothing else limits them.
        """
        if not self.most:
            yield True
            return
        place = self._places.setdefault(name, asyncio.Semaphore(PREVIEWS))
        with one_more(self._previews, name, PREVIEWS_SENT) as allowed:
            if not allowed:
                yield False
                return
            async with place, self._all:
                yield True


@contextmanager
def one_more(counts: Counter[str], name: str, most: float) -> Iterator[bool]:
    """Add 1 to ``counts[name]`` during the block; yield False if that would exceed ``most``."""
    allowed = counts[name] < most
    counts[name] += allowed
    try:
        yield allowed
    finally:
        counts[name] -= allowed
        counts += Counter()  # removes entries whose count is zero
