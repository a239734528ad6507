"""Attack a running server; print a table of the attempts that it resisted.

    python app.py --public --port 7861 &
    python -m tools.attack --url http://127.0.0.1:7861

Only servers on this machine are attacked. Exits with 1 if an attempt succeeded.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter
from ipaddress import ip_address
from urllib.parse import urlsplit

from tools.attack.client import Target
from tools.attack.requests import everything

LIMIT_S = 175.0


def loopback(url: str) -> str:
    """Return a URL without trailing slashes. Raises ``ValueError`` if it names another machine."""
    parts = urlsplit(url)
    try:
        here = parts.hostname == "localhost" or ip_address(parts.hostname or "").is_loopback
    except ValueError:
        here = False
    if parts.scheme != "http" or not here:
        raise ValueError(f"--url {url}: only http://127.0.0.1:PORT and the like, on this machine")
    return url.rstrip("/")


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--url", required=True)
    try:
        target = Target(loopback(parser.parse_args(arguments).url))
    except ValueError as error:
        parser.error(str(error))
    tried: Counter[str] = Counter()
    failed: Counter[str] = Counter()
    end = time.monotonic() + LIMIT_S
    for kind, name, is_held in everything():
        tried[kind] += 1
        try:
            held = time.monotonic() < end and is_held(target)
        except Exception as error:  # a server that does not answer has not withstood the attempt
            held, name = False, f"{name} ({type(error).__name__}: {error})"
        if not held:
            failed[kind] += 1
            print(f"NOT HELD  {kind}: {name}")
    print(f"{'attempt':<28}{'tried':>6}{'held':>6}{'failed':>7}")
    tried["all"], failed["all"] = tried.total(), failed.total()
    for kind, count in tried.items():
        print(f"{kind:<28}{count:>6}{count - failed[kind]:>6}{failed[kind]:>7}")
    return int(failed["all"] > 0)


if __name__ == "__main__":
    sys.exit(main())
