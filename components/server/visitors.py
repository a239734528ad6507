"""Host names the server answers to, and proxies whose forwarded headers it believes.

A page of another site can give its own name the address of this machine (DNS rebinding); its
requests then look like those of our own page, but for the name. So only listed names are answered.
"""

from __future__ import annotations

import re
from collections.abc import MutableMapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from ipaddress import IPv4Address, IPv4Network, IPv6Network, ip_address, ip_network
from typing import Any

HOST = re.compile(r"(\[[0-9a-f:.]+\]|[a-z0-9_.-]+)(:[0-9]{1,5})?", re.IGNORECASE)
Scope = MutableMapping[str, Any]
Network = IPv4Network | IPv6Network
Headers = list[tuple[bytes, bytes]]

ROOT = b"x-gradio-server"  # Gradio would believe anybody who names its address
LOCAL_NAMES = ("localhost", "127.0.0.1", "::1")
PRIVATE = ("10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "100.64.0.0/10", "fc00::/7")


def networks(addresses: Sequence[str]) -> tuple[Network, ...]:
    """Addresses or networks such as 10.0.0.0/8. Raises ``ValueError`` naming a bad one."""
    return tuple(ip_network(address, strict=False) for address in addresses)


def neighbourhood(address: str) -> str:
    """Whom an address counts for: a visitor with IPv6 has a network of them to himself.

    Some proxies write the visitor's port behind it.
    """
    name, _, port = address.rpartition(":")
    if port.isdecimal() and (name.startswith("[") or ":" not in name):
        address = name
    try:
        peer = ip_address(address.strip("[]").partition("%")[0])
    except ValueError:
        return address
    if isinstance(peer, IPv4Address):
        return str(peer)
    return str(peer.ipv4_mapped or IPv6Network((peer, 64), strict=False))


@dataclass(frozen=True)
class Hosts:
    """``names``: further names, ``*.example.org`` for all below one; ``proxies``: believed."""

    names: tuple[str, ...] = ()
    proxies: tuple[Network, ...] = ()

    def trusts(self, address: str) -> bool:
        """Whether this is the address of a proxy of ours."""
        try:
            peer = ip_address(address)
        except ValueError:  # a path or a name: no TCP connection
            return False
        return any(peer in network for network in self.proxies)

    def answers_to(self, host: str, scope: Scope) -> bool:
        """Whether ``host`` (a Host header) names this server or the address that was reached."""
        found = HOST.fullmatch(host)
        if found is None:
            return False
        name = found[1].strip("[]").lower().rstrip(".")
        reached = (scope.get("server") or ("",))[0]
        return name in (*LOCAL_NAMES, reached) or any(fnmatchcase(name, own) for own in self.names)

    def visitor(self, scope: Scope) -> tuple[Scope, list[str]]:
        """``scope`` as the visitor sent it, and the hosts that were named.

        From a trusted proxy the visitor's address and scheme count; from anybody else forwarded
        headers are taken out, so that nothing behind believes them.
        """
        headers: Headers = [item for item in scope["headers"] if item[0] != ROOT]
        scope = {**scope, "headers": headers}
        given = {name: value.decode("latin-1") for name, value in headers}
        named = [given[name] for name in (b"host",) if name in given]
        forwarded = [name for name in given if name.startswith(b"x-forwarded-")]
        if not forwarded and b"forwarded" not in given:
            return scope, named
        if not self.trusts(str((scope.get("client") or ("",))[0])):
            kept = [
                item for item in headers if not item[0].startswith((b"x-forwarded-", b"forwarded"))
            ]
            return {**scope, "headers": kept}, named
        if host := given.get(b"x-forwarded-host"):
            named.append(host)
        scheme = given.get(b"x-forwarded-proto", scope["scheme"])
        scheme = scheme if scheme in ("http", "https") else scope["scheme"]
        client = (self._first_stranger(given.get(b"x-forwarded-for", "")), 0)
        return {
            **scope,
            "scheme": scheme,
            "client": client if client[0] else scope["client"],
        }, named

    def _first_stranger(self, chain: str) -> str:
        """The last address that a proxy of ours has seen itself; empty where none is named."""
        seen = [part.strip() for part in chain.split(",") if part.strip()]
        strangers = [address for address in reversed(seen) if not self.trusts(address)]
        return (strangers or seen[:1] or [""])[0]
