"""The tables of the GleanVID paper as data, and measured results compared with them.

``numbers.json`` holds every table with results: accuracies in percent, memory in MB, and seconds
summed over the benchmark (in all likelihood, over the questions that one of eight GPUs answered).
Each row has a ``setup``: the key of a ``gleanvid.evaluation.run.setups.Setup``, which names the
method, its settings and the number of frames. Measured results with the same key belong to that
row. Other methods have the settings that their authors use for that model; those of FastVID and
FlashVID on LLaVA differ from the defaults here. ``tests/evaluation/paper/test_numbers.py`` lists
the rows of the paper whose numbers do not add up.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from gleanvid.compressors import from_settings
from gleanvid.errors import refusing
from gleanvid.evaluation.run.journal_rows import PHASES
from gleanvid.evaluation.run.setups import Setup, setup_from

GRIDS = ("qwen3-vl-8b-64", "qwen3-vl-8b-32", "llava-onevision-7b", "llava-video-7b")
BENCHMARKS = ("mvbench", "longvideobench", "mlvu", "videomme")

Values = Mapping[str, float | None]  # value by column, None if missing


@dataclass(frozen=True)
class Row:
    """One row of a table.

    A value is None if the paper has no number there, for example because memory ran out.
    """

    label: str
    setup: str
    values: Values


@dataclass(frozen=True)
class Table:
    """One table of the paper.

    ``models``: names that the paper's model has in results. ``label``: the table's LaTeX label. The
    column "percent" is relative to the row with all tokens: the first row of this table, or of the
    table named ``reference`` if there is one. ``note``: how to read the numbers.
    """

    name: str
    title: str
    label: str
    models: tuple[str, ...]
    columns: tuple[str, ...]
    rows: tuple[Row, ...]
    reference: str = ""
    note: str = ""

    @property
    def full(self) -> Row:
        """The row with all tokens if the table has a column "percent"; else the first row."""
        return tables()[self.reference].rows[0] if self.reference else self.rows[0]


@cache
def tables() -> dict[str, Table]:
    """Return the paper's tables by name, in the paper's order."""
    text = Path(__file__).with_name("numbers.json").read_text(encoding="utf-8")
    return {name: _table(name, found) for name, found in json.loads(text).items()}


def setups_of(name: str) -> list[Setup]:
    """Return the setups of a table's rows, in the order of the rows."""
    return [setup_from(row.setup) for row in tables()[name].rows]


def _table(name: str, found: dict[str, Any]) -> Table:
    columns = tuple(found["columns"])
    rows = tuple(
        Row(label, setup, dict(zip(columns, values, strict=True)))
        for label, setup, *values in found["rows"]
    )
    about = (found["title"], found["label"], tuple(found["models"]))
    return Table(name, *about, columns, rows, found.get("reference", ""), found.get("note", ""))


@dataclass(frozen=True)
class Measured:
    """Measured results of one model.

    ``values``: by setup and column, in the units of the paper's tables. ``questions``: the number
    asked, by benchmark. ``failed``: number of questions that failed; they count as wrong.
    """

    model: str
    values: Mapping[str, Values]
    questions: Mapping[str, int]
    failed: int


def read_results(places: Iterable[str | Path]) -> dict[str, Measured]:
    """Read results of ``gleanvid eval`` and ``gleanvid bench model`` from folders or files.

    Return them by the model's name. Raises ``ValueError`` if a folder or file has no results, or if
    a file is damaged.
    """
    found: dict[str, Measured] = {}
    for place in map(Path, places):
        taken = 0
        for path in sorted(place.rglob("*.json")) if place.is_dir() else [place]:
            broken = f"{path} does not hold results of gleanvid"
            with refusing(ValueError, broken, OSError, because=True):
                report = json.loads(path.read_text(encoding="utf-8"))
                if isinstance(report, dict) and set(report) >= _COSTS:
                    _take_costs(found, report)
                elif path.name == "results.json" or path == place:
                    _take(found, report)
                else:
                    continue
                taken += 1
        if not taken:
            raise ValueError(f"{place} holds no results of gleanvid eval or gleanvid bench model")
    return found


_COSTS = {"machine", "model", "settings", "rows"}  # keys of a report of ``gleanvid bench model``
_RELATIVE = {  # column of the paper's table -> key in ``relative`` of ``gleanvid bench model``
    "prefill_s change": "compress_and_prefill_s",
    "generate_s change": "generate_s",
    "total_s change": "total_s",
    "peak_memory_mb change": "peak_memory_mib",
}


def _take_costs(found: dict[str, Measured], report: dict[str, Any]) -> None:
    """Add to ``found`` the costs, relative to all tokens, of a ``gleanvid bench model`` report.

    Absolute seconds are left out: the report's are for one question, the paper's for a benchmark.
    """
    model = report["model"]["name"]
    before = found.get(model) or Measured(model, {}, {}, 0)
    values = dict(before.values)
    for row in report["rows"]:
        if "relative" not in row or row["compressor"]["name"] == "full":
            continue
        own = {column: 100 * (row["relative"][key] - 1) for column, key in _RELATIVE.items()}
        own["items_per_s change"] = row["relative"]["throughput"]
        setup = Setup(from_settings(row["compressor"]), row["num_frames"]).key
        values[setup] = {**values.get(setup, {}), **own}
    found[model] = Measured(model, values, before.questions, before.failed)


def _take(found: dict[str, Measured], report: dict[str, Any]) -> None:
    model, benchmark = report["model"], report["benchmark"]["benchmark"]
    lines: dict[str, dict[str, Any]] = {}
    for line in report["results"]:
        # if a setup has results for several response modes, only the first is used
        lines.setdefault(line["setup"], line)
    before = found.get(model) or Measured(model, {}, {}, 0)
    values = dict(before.values)
    for setup, line in lines.items():
        groups = [name.removesuffix(" questions") for name in line if name.endswith(" questions")]
        own = {f"{benchmark}/{group}": _percent(line[group]) for group in groups}
        own |= _summed(line, lines) if benchmark == "videomme" else {}
        values[setup] = {**values.get(setup, {}), benchmark: _percent(line["accuracy"]), **own}
    count = max((line["questions"] for line in lines.values()), default=0)
    failed = before.failed + sum(line["failed"] for line in lines.values())
    found[model] = Measured(model, values, {**before.questions, benchmark: count}, failed)


def _summed(line: dict[str, Any], lines: Mapping[str, dict[str, Any]]) -> dict[str, float | None]:
    """Return a setup's costs summed over a benchmark, and their change against all tokens.

    ``line``: the setup's result of ``gleanvid eval --phases``. ``lines``: those of all setups. If
    phases were not timed, the result is empty.
    """
    found = {**_sums(line)}
    frames = line["setup"].rpartition("@")[2]
    full = _sums(lines.get(f"full(retention_ratio=1.0)@{frames}", {}))
    if found and full and line["compressor"] != "full":
        changes = {f"{name} change": 100 * (found[name] / full[name] - 1) for name in full}
        changes["items_per_s change"] = found["items_per_s"] / full["items_per_s"]
        found |= changes
    return {**found}


def _sums(line: Mapping[str, Any]) -> dict[str, float]:
    if line.get("sum_prefill_s") is None:
        return {}
    spent = {name: line[f"sum_{name}_s"] for name in PHASES}
    total = sum(spent.values())
    return {
        "prefill_s": spent["compress"] + spent["prefill"],
        "generate_s": spent["generate"],
        "total_s": total,
        "peak_memory_mb": line["peak_memory_mib"] * 2**20 / 1e6,
        "items_per_s": (line["questions"] - line["failed"] / line["draws"]) / total,
    }


def _percent(share: float | None) -> float | None:
    return None if share is None else 100 * float(share)


def ours(table: Table, measured: Measured) -> list[Values]:
    """Return the measured values for every row of ``table``.

    The columns "average", "percent" and "drop" (percent minus that of the last row) are derived.
    """
    averages = [_average(table, measured.values.get(row.setup, {})) for row in table.rows]
    full = _average(table, measured.values.get(table.full.setup, {}))
    shares = [None if a is None or not full else 100 * a / full for a in averages]
    rows: list[Values] = []
    for row, average, share in zip(table.rows, averages, shares, strict=True):
        known: dict[str, float | None] = dict(measured.values.get(row.setup, {}))
        known |= {"average": average, "percent": share}
        if share is not None and shares[-1] is not None and row is not table.rows[-1]:
            known["drop"] = share - shares[-1]
        rows.append({column: known.get(column) for column in table.columns})
    return rows


def _average(table: Table, values: Values) -> float | None:
    found = [values.get(name) for name in BENCHMARKS if name in table.columns]
    known = [value for value in found if value is not None]
    return sum(known) / len(known) if known and len(known) == len(found) else None


def choose(table: Table, found: Mapping[str, Measured], model: str = "") -> Measured | None:
    """Return the results of the table's model, or of ``model`` if given; None if there are none."""
    wanted = [name.lower() for name in ([model] if model else table.models)]
    for name, measured in found.items():
        if name.lower() in wanted or Path(name).name.lower() in wanted:
            return measured
    return None
