"""Who sent a request: a visitor is an IPv4 address, or an IPv6 network of 64 bits."""

from __future__ import annotations

from collections.abc import Sequence
from ipaddress import IPv4Address, IPv6Network, ip_address, ip_network

PRIVATE = ("10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "100.64.0.0/10", "fc00::/7")


def networks(addresses: Sequence[str]) -> list[str]:
    """Parse networks such as 10.0.0.0/8. Raises ``ValueError`` naming an invalid one."""
    return [str(ip_network(address, strict=False)) for address in addresses]


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
    # one person gets a whole IPv6 network
    return str(peer.ipv4_mapped or IPv6Network((peer, 64), strict=False))
