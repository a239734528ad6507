"""What the tables of a server under load say, in sentences whose figures are the tables' own."""

from __future__ import annotations

from collections.abc import Sequence

from gleanvid.evaluation.bench.bench_pauses import Pause
from gleanvid.evaluation.bench.bench_serve import Load


def words_of_loads(loads: Sequence[Load]) -> str:
    """A list: each share against all tokens, its figures in the order of requests at once.

    Levels at which all tokens were not measured have no ratio and are left out.
    """
    whole = {load.concurrency: load for load in loads if load.kept == 1.0}
    lines = []
    for label in dict.fromkeys(load.label for load in loads if load.kept < 1.0):
        pairs = [
            (load, whole[load.concurrency])
            for load in loads
            if load.label == label and load.concurrency in whole
        ]
        if pairs:
            lines.append(_line(label, pairs))
    head = "Against all tokens; every row was measured once:"
    return "\n".join([head, "", *lines, ""]) if lines else ""


def _line(label: str, pairs: Sequence[tuple[Load, Load]]) -> str:
    levels = _listed([str(load.concurrency) for load, _ in pairs])
    rate = _listed([f"{load.requests_per_s / base.requests_per_s:.2f}x" for load, base in pairs])
    first = _listed([f"{load.first_token_s / base.first_token_s:.2f}x" for load, base in pairs])
    share = _listed([f"{load.choosing:.1%}" for load, _ in pairs])
    return (
        f"- {label}, {levels} at once: {rate} the requests a second; the first token after "
        f"{first} the time; the engine's thread chose tokens for {share} of the time."
    )


def words_of_pauses(found: Sequence[Pause]) -> str:
    """A sentence for each server; those with a method say how much of the pause is choice."""
    whole = next((one for one in found if one.kept == 1.0), None)
    sentences = [
        f"With {one.label}, an answer that runs stands still for {1000 * one.pause_s:.0f} ms while "
        f"a new video is taken in (median of {one.videos}; {1000 * one.gap_s:.1f} ms between "
        f"tokens otherwise){_against(one, whole)}."
        for one in found
    ]
    return "\n".join([*sentences, ""]) if sentences else ""


def _against(one: Pause, whole: Pause | None) -> str:
    if one.kept == 1.0:
        return ""
    ratio = (
        f", {one.pause_s / whole.pause_s:.2f}x that of all tokens"
        if whole and whole.pause_s
        else ""
    )
    share = f", {one.choosing_s / one.pause_s:.1%}" if one.pause_s else ""
    return f"{ratio}; of this the choice of tokens is {1000 * one.choosing_s:.1f} ms{share}"


def _listed(parts: Sequence[str]) -> str:
    """``a``, ``a and b``, ``a, b and c``."""
    *first, last = parts
    return f"{', '.join(first)} and {last}" if first else last
