"""Attempts on a running server, each of which it has to hold; a table of what held.

    python app.py --public --port 7861 &
    python -m tests.server.attack --url http://127.0.0.1:7861

Only servers on this machine are tried. Ends with 1 where an attempt did not hold.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter
from ipaddress import ip_address
from urllib.parse import urlsplit

from tests.server.attempts import everything
from tests.server.target import Target

LIMIT_S = 175.0


def loopback(url: str) -> str:
    """The address without its last slash. Raises ``ValueError`` for one of another machine."""
    parts = urlsplit(url)
    host = parts.hostname or ""
    try:
        here = host == "localhost" or ip_address(host).is_loopback
    except ValueError:
        here = False
    if parts.scheme != "http" or not here:
        raise ValueError(f"--url {url}: only http://127.0.0.1:PORT and the like, on this machine")
    return url.rstrip("/")


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--url", required=True)
    try:
        url = loopback(parser.parse_args(arguments).url)
    except ValueError as error:
        parser.error(str(error))
    tried: Counter[str] = Counter()
    failed: Counter[str] = Counter()
    end = time.monotonic() + LIMIT_S
    with Target(url) as target:
        for kind, name, attempt in everything():
            if time.monotonic() > end:
                print(f"out of time before {kind}: {name}")
                failed[kind] += 1
                break
            tried[kind] += 1
            try:
                held = attempt(target)
            except Exception as error:  # no answer at all is no way to hold
                held, name = False, f"{name} ({type(error).__name__}: {error})"
            if not held:
                failed[kind] += 1
                print(f"NOT HELD  {kind}: {name}")
    print(f"{'attempt':<28}{'tried':>6}{'held':>6}{'failed':>7}")
    for kind, count in tried.items():
        print(f"{kind:<28}{count:>6}{count - failed[kind]:>6}{failed[kind]:>7}")
    total, lost = tried.total(), failed.total()
    print(f"{'all':<28}{total:>6}{total - lost:>6}{lost:>7}")
    return 1 if lost else 0


if __name__ == "__main__":
    sys.exit(main())
