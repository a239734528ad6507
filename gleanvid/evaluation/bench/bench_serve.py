"""Measures running vLLM servers under load, with the time that they spend on compression.

``vllm bench serve`` measures more, but not this time. Every request gives its video a new id, to
bypass the server's caches.
"""

from __future__ import annotations

import itertools
import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from time import perf_counter, time_ns

from gleanvid.evaluation.markdown import markdown_table
from gleanvid.serving.vllm.client import Reply, Server
from gleanvid.serving.vllm.parts import file_part

QUESTION = "Describe what happens in this video."
# Asked for the compression records numbered above this, the server sends none, only totals.
NO_RECORDS = 2**62


@dataclass(frozen=True)
class Load:
    """One server's results at one number of concurrent requests."""

    label: str  # method and retention ratio, or "all tokens"
    kept: float  # fraction of the visual tokens that is kept
    concurrency: int
    requests: int
    prompt_tokens: float  # mean number of prompt tokens per request, visual ones included
    requests_per_s: float
    first_token_s: float  # median seconds from a request to its first token
    first_token_p95_s: float
    tokens_per_s: float  # generated tokens per second, over all requests together
    choosing: float  # fraction of the time that the server spent on choosing which tokens to keep


def measure(
    server: Server,
    clips: Sequence[Path],
    concurrency: Sequence[int],
    requests: int,
    new_tokens: int,
) -> Iterator[Load]:
    """Yield one :class:`Load` per number of concurrent requests, after a warm-up."""
    label, kept = label_of(server)
    files = [clip.read_bytes() for clip in clips]
    work = _Requests(server, server.model(), files, new_tokens)
    work.ask(0)
    for at_once in concurrency:
        count = max(requests, at_once)
        chosen, started = _choosing_s(server), perf_counter()
        with ThreadPoolExecutor(at_once) as pool:
            replies = list(pool.map(work.ask, range(count)))
        wall_s = perf_counter() - started
        share = (_choosing_s(server) - chosen) / wall_s
        yield _load(label, kept, at_once, replies, wall_s, share)


def label_of(server: Server) -> tuple[str, float]:
    """Return a text with a server's method and retention ratio, and the ratio as a number.

    Without GleanVID's plug-in, these are "all tokens" and 1.0.
    """
    records = server.records()
    if records is None:
        return "all tokens", 1.0
    kept = round(1.0 - records["pruning_rate"], 6)
    return f"{records['method']['name']} {kept:.0%}", kept


def _choosing_s(server: Server) -> float:
    """Return the seconds since the server's start that went into choosing the tokens to keep."""
    records = server.records(since=NO_RECORDS)
    return 0.0 if records is None else float(records["seconds"])


class _Requests:
    """Asks the server about the clips, each time under a new id."""

    def __init__(self, server: Server, model: str, files: list[bytes], new_tokens: int) -> None:
        self.server, self.model, self.files, self.new_tokens = server, model, files, new_tokens
        self._names, self._lock, self._run = itertools.count(), threading.Lock(), time_ns()

    def ask(self, number: int) -> Reply:
        with self._lock:
            name = f"{self._run}-{next(self._names)}"
        video = file_part(self.files[number % len(self.files)], uuid=name)
        content = [video, {"type": "text", "text": QUESTION}]
        return self.server.ask(content, self.new_tokens, model=self.model, ignore_eos=True)


def _load(
    label: str, kept: float, at_once: int, replies: Sequence[Reply], wall_s: float, choosing: float
) -> Load:
    first = sorted(reply.first_token_s for reply in replies)
    return Load(
        label,
        kept,
        at_once,
        len(replies),
        sum(reply.prompt_tokens for reply in replies) / len(replies),
        len(replies) / wall_s,
        median(first),
        first[min(len(first) - 1, int(0.95 * len(first)))],
        sum(reply.new_tokens for reply in replies) / wall_s,
        choosing,
    )


def table(loads: Sequence[Load]) -> str:
    """Return a Markdown table of the results.

    In brackets: the value divided by that of the server that keeps all tokens, at the same number
    of concurrent requests. There are no brackets if that server was not measured.
    """
    whole = {load.concurrency: load for load in loads if load.kept == 1.0}
    heads = ["kept", "at once", "requests", "prompt tokens", "requests/s", "first token s", "p95 s"]
    heads += ["new tokens/s", "choosing"]
    rows = []
    for load in loads:
        base = whole.get(load.concurrency)
        rows.append(
            (
                load.label,
                str(load.concurrency),
                str(load.requests),
                f"{load.prompt_tokens:.0f}",
                _with_ratio(load.requests_per_s, base.requests_per_s if base else None),
                _with_ratio(load.first_token_s, base.first_token_s if base else None),
                f"{load.first_token_p95_s:.3g}",
                _with_ratio(load.tokens_per_s, base.tokens_per_s if base else None),
                f"{load.choosing:.1%}",
            )
        )
    return markdown_table(heads, rows)


def _with_ratio(value: float, base: float | None) -> str:
    return f"{value:.3g} ({value / base:.2f}x)" if base else f"{value:.3g}"
