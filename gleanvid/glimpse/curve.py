"""A run's two CSVs: written line by line, drawn by ``python -m gleanvid.glimpse.curve FOLDER``."""

from __future__ import annotations

import argparse
import csv
from collections import defaultdict
from itertools import cycle
from pathlib import Path
from typing import Any

import numpy as np


def append_row(path: Path, row: dict[str, Any]) -> None:
    """One more line of a CSV, with the header first where the file is new."""
    new = not path.exists()
    with path.open("a", newline="") as file:
        writer = csv.DictWriter(file, list(row))
        if new:
            writer.writeheader()
        rounded = {k: round(v, 4) if isinstance(v, float) else v for k, v in row.items()}
        writer.writerow(rounded)


def draw(folder: Path, picture: Path) -> None:
    """Language loss and per-token accuracy on the left, validation accuracy on the right."""
    from matplotlib import colormaps
    from matplotlib.figure import Figure

    figure = Figure(figsize=(11, 4), layout="constrained")
    left, right = figure.subplots(1, 2)
    rows = _read(folder / "loss.csv")
    minutes = _column(rows, "minute")
    left.plot(minutes, _column(rows, "loss"), color="black", label="language loss (nats)")
    for fact in ("shape", "colour", "motion"):
        smooth = np.convolve(_column(rows, fact), np.ones(5) / 5, "same")
        left.plot(minutes[2:-2], smooth[2:-2], label=f"{fact} per token (share right)")
    left.set(xlabel="minutes of training", ylim=(0, 2))
    families: dict[str, list[tuple[float, float]]] = defaultdict(list)
    for row in _read(folder / "accuracy.csv"):
        families[row["family"]].append((float(row["minute"]), float(row["accuracy"])))
    shades = colormaps["tab20"].colors  # type: ignore[attr-defined]
    for shade, (family, points) in zip(cycle(shades), families.items(), strict=False):
        bold = family == "mean of families"
        right.plot(
            *zip(*points, strict=True),
            marker=".",
            lw=3 if bold else 1,
            label=family,
            color="black" if bold else shade,
        )
    right.set(xlabel="minutes of training", ylabel="validation answers right", ylim=(0, 1.02))
    for axes in (left, right):
        axes.grid(alpha=0.3)
    left.legend(fontsize=8)
    right.legend(fontsize=8, loc="center left", bbox_to_anchor=(1, 0.5))
    figure.savefig(picture, dpi=110)


def _read(path: Path) -> list[dict[str, str]]:
    """The rows that count: a run that went on from a checkpoint did some steps twice."""
    with path.open(newline="") as file:
        rows = list(csv.DictReader(file))
    kept: list[dict[str, str]] = []
    for row in rows:
        while kept and int(kept[-1]["step"]) > int(row["step"]):
            kept.pop()
        kept.append(row)
    return kept


def _column(rows: list[dict[str, str]], name: str) -> np.ndarray:
    return np.array([float(row[name]) for row in rows])


def main() -> None:
    """Draw ``curve.png`` into the run's folder."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    folder = parser.parse_args().folder
    draw(folder, folder / "curve.png")


if __name__ == "__main__":
    main()
