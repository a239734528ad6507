"""Write and draw the loss and accuracy of a training run.

``python -m gleanvid.glimpse.training.curve FOLDER`` draws ``loss.csv`` and ``accuracy.csv``, or
the ``loss.csv`` of a training run with dropped tokens (``gleanvid.glimpse.training.reader``).
"""

from __future__ import annotations

import argparse
import csv
from collections import defaultdict
from itertools import cycle
from pathlib import Path

import numpy as np

_LABELS = {  # column of loss.csv that is drawn -> label of its curve
    "shape": "shape",
    "motion": "motion",
    "column": "place (column)",
    "past_event": "event",
    "past_behaviour": "behaviour",
    "past_spans": "blinks so far",
}


Row = dict[str, float | str]  # name of a column -> value


def append_row(path: Path, row: Row) -> None:
    """Append a row to a CSV file, after the header if the file is new."""
    new = not path.exists()
    with path.open("a", newline="") as file:
        writer = csv.DictWriter(file, list(row))
        if new:
            writer.writeheader()
        rounded = {k: round(v, 4) if isinstance(v, float) else v for k, v in row.items()}
        writer.writerow(rounded)


def draw(folder: Path, picture: Path) -> None:
    """Draw training loss and token accuracy on the left, validation accuracy on the right."""
    from matplotlib import colormaps
    from matplotlib.figure import Figure

    figure = Figure(figsize=(12, 4), layout="constrained")
    left, right = figure.subplots(1, 2)
    rows = _read(folder / "loss.csv")
    minutes = _column(rows, "minute")
    losses = _column(rows, "loss")
    left.plot(minutes, losses, color="black", alpha=0.2)
    left.plot(minutes, _smooth(losses), color="black", label="loss (nats)")
    for column, label in _LABELS.items():
        smooth = _smooth(_column(rows, column))
        left.plot(minutes, smooth, label=label)
    left.set(xlabel="minutes of training", ylabel="loss; token accuracy", ylim=(0, 1.05))
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
        axes.legend(fontsize=8, loc="center left", bbox_to_anchor=(1, 0.5))
    figure.savefig(picture, dpi=110)


def draw_reader(folder: Path, picture: Path) -> None:
    """Draw losses of a training run with dropped tokens, and those of its teacher model.

    The left panel is for clips with all tokens, the right panel for clips with a part of them.
    """
    from matplotlib.figure import Figure

    figure = Figure(figsize=(12, 4), layout="constrained")
    rows = _read(folder / "loss.csv")
    steps = _column(rows, "step")
    for axes, kind, title in zip(
        figure.subplots(1, 2),
        ("whole", "dropped"),
        ("all tokens", "a random part of the tokens"),
        strict=True,
    ):
        for name, label, colour in (
            (f"{kind}_loss", f"reader, {title}", "black"),
            (f"{kind}_teacher_loss", "first model, all tokens", "tab:blue"),
            (f"{kind}_distance", "divergence between the two", "tab:orange"),
        ):
            values = _column(rows, name)
            axes.plot(steps, values, color=colour, alpha=0.15)
            axes.plot(steps, _smooth(values), color=colour, label=label)
        axes.set(xlabel="step", ylabel="nats per answer token, weighted", ylim=(0, 0.8))
        axes.grid(alpha=0.3)
        axes.legend(fontsize=8)
    figure.savefig(picture, dpi=110)


def _smooth(values: np.ndarray) -> np.ndarray:
    """Return the moving mean over 25 values; values that are NaN are left out of the mean."""
    known, window = ~np.isnan(values), np.ones(min(25, len(values)))
    count = np.convolve(known, window, "same")
    total = np.convolve(np.where(known, values, 0), window, "same")
    return np.divide(total, count, out=np.full(len(values), np.nan), where=count > 0)


def _read(path: Path) -> list[dict[str, str]]:
    """Read the rows of a CSV file.

    If a resumed run went back to an earlier step, the old rows of later steps are left out.
    """
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
    with (folder / "loss.csv").open(newline="") as file:
        is_reader = "whole_loss" in next(csv.reader(file))
    (draw_reader if is_reader else draw)(folder, folder / "curve.png")


if __name__ == "__main__":
    main()
