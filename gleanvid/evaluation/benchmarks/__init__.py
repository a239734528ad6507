"""The benchmarks, by name. A new benchmark needs one file and one line here."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from importlib import import_module
from typing import Any

from gleanvid.evaluation.benchmarks.base import Benchmark, BenchmarkError, Item
from gleanvid.plugins import Registry

_OWN: dict[str, str | type[Benchmark]] = {  # "module:class" by name, imported on first use
    "glimpse": "glimpse:Glimpse",
    "list": "own_list:OwnList",
}


def _names(benchmark: type[Benchmark], known: object) -> Iterator[str]:
    name = getattr(benchmark, "name", None)
    if not isinstance(name, str) or not is_dataclass(benchmark):
        raise ValueError(f"{benchmark.__name__} must be a frozen dataclass with a name")
    yield name


BENCHMARKS = Registry(_OWN, _names)


def benchmark_class(name: str) -> type[Benchmark]:
    """Return the class of a benchmark. Raises ``BenchmarkError`` if there is none of that name."""
    if name not in BENCHMARKS:
        raise BenchmarkError(f"benchmark={name!r} must be one of {', '.join(BENCHMARKS)}")
    known = BENCHMARKS[name]
    if not isinstance(known, str):
        return known
    module, _, kind = known.partition(":")
    found: type[Benchmark] = getattr(import_module(f"{__name__}.{module}"), kind)
    return found


def open_benchmark(name: str, **settings: Any) -> Benchmark:
    """Return a benchmark by name, with its settings.

    Raises ``BenchmarkError`` if the benchmark, or one of its settings, is unknown.
    """
    kind = benchmark_class(name)
    known = [item.name for item in fields(kind)]  # type: ignore[arg-type]
    for setting in settings:
        if setting not in known:
            raise BenchmarkError(
                f"benchmark {name} has no setting {setting}; its settings are {', '.join(known)}"
            )
    return kind(**settings)


__all__ = ["BENCHMARKS", "Benchmark", "BenchmarkError", "Item", "benchmark_class", "open_benchmark"]
