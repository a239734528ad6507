"""Hold every selection against the best one, on made-up clips whose best selection is known.

python -m tools.synthetic_worlds --out results/synthetic

A clip is a mean, a background that drifts within a few directions, objects of one direction each
that cover 2 x 2 tokens for a few units, and noise. The yardstick picks, one after another, the
token that explains most of what all tokens still miss (greedy column subset selection).
"""

from __future__ import annotations

import argparse
import csv
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from statistics import fmean
from typing import Any

import torch

from gleanvid import metrics
from gleanvid.compressors import method_from
from gleanvid.evaluation.files import write_whole
from gleanvid.evaluation.markdown import markdown_table
from gleanvid.evaluation.tables.statistics import clip_mean, holm, sign_flip
from gleanvid.types import Compression, VideoTokens

UNITS, SIDE, WIDTH, OBJECTS = 16, 8, 512, 40
RATIOS = (0.02, 0.04, 0.08, 0.15, 0.25)
METHODS = {
    "GleanVID": "gleanvid",
    "LRS alone": "ablation(selection=lrs)",
    "SCS alone": "ablation(selection=scs)",
    "Pairwise": "ablation(selection=pairwise)",
    "VidCom2": "vidcom2",
    "V-CAST": "vcast",
    "DivPrune": "divprune",
    "FLoC": "floc",
    "Uniform": "uniform",
    "Random": "random",
    "Frames": "frames",
    "Resize": "resize",
}
BEST = "greedy optimum"
MEASURES = ("coverage error", "objects", "effective rank")


@dataclass(frozen=True)
class World:
    """Properties of a made-up clip.

    ``rank``: directions of the background; ``life``: units that an object lasts; ``noise`` and
    ``strength``: norms of a token's noise and of its object, that of the background being about 1.
    """

    rank: int = 40
    life: int = 4
    noise: float = 0.15
    strength: float = 1.0


GRID = {
    "rank": (20, 40, 80),
    "life": (1, 4, 8),
    "noise": (0.05, 0.15, 0.4),
    "strength": (0.5, 1.0, 2.0),
}


def clip_of(world: World, seed: int) -> tuple[VideoTokens, torch.Tensor]:
    """Return the tokens of one clip, and which object each shows, int64 [L]; -1: none."""
    generator = torch.Generator().manual_seed(seed)

    def normal(*shape: int) -> torch.Tensor:
        return torch.randn(*shape, generator=generator)

    frames = torch.linspace(0, 1, UNITS)[:, None, None]
    first, last = normal(2, 1, SIDE * SIDE, world.rank)  # the background drifts from one to another
    mixed = ((1 - frames) * first + frames * last) / world.rank**0.5
    tokens = mixed @ torch.linalg.qr(normal(WIDTH, world.rank)).Q.T
    directions = torch.nn.functional.normalize(normal(OBJECTS, WIDTH), dim=1)
    shown = torch.full((UNITS, SIDE, SIDE), -1)
    for number in range(OBJECTS):
        unit, row, column = (
            int(torch.randint(0, high, (1,), generator=generator))
            for high in (UNITS - world.life + 1, SIDE - 1, SIDE - 1)
        )
        shown[unit : unit + world.life, row : row + 2, column : column + 2] = number
    shown = shown.flatten()
    tokens = tokens.flatten(0, 1)
    tokens[shown >= 0] = world.strength * directions[shown[shown >= 0]]
    tokens = tokens + world.noise * normal(len(tokens), WIDTH) / WIDTH**0.5
    mean = torch.nn.functional.normalize(normal(WIDTH), dim=0)
    return VideoTokens(tokens + 2 * mean, (UNITS, SIDE, SIDE)), shown


def greedy_order(debiased: torch.Tensor, count: int) -> torch.Tensor:
    """int64 [count]: at each step the token whose direction explains most of all residuals."""
    gram, chosen = debiased.double() @ debiased.double().T, []
    floor = 1e-9 * float(gram.diagonal().max())
    for _ in range(count):
        energy = gram.diagonal()
        gain = torch.where(energy > floor, gram.square().sum(dim=0) / energy, -1.0)
        gain[chosen] = -2.0
        best = int(gain.argmax())
        chosen.append(best)
        if gain[best] > 0:
            gram = gram - torch.outer(gram[:, best], gram[best]) / gram[best, best]
    return torch.tensor(chosen)


def measure(world: World, seed: int) -> Iterator[dict[str, Any]]:
    """Yield one row for each method and ratio on one clip."""
    tokens, shown = clip_of(world, seed)
    debiased = metrics.debiased(tokens.features)
    order = greedy_order(debiased, int(max(RATIOS) * len(tokens)))
    present = set(shown[shown >= 0].tolist())
    for ratio in RATIOS:
        keep = order[: int(ratio * len(tokens))].sort().values
        records = {BEST: Compression.pruned(keep, tokens.grid)}
        records |= {
            name: method_from(text, ratio).compress(tokens) for name, text in METHODS.items()
        }
        for name, record in records.items():
            found = set(shown[record.keep].tolist()) & present
            yield vars(world) | {
                "seed": seed,
                "ratio": ratio,
                "method": name,
                "coverage error": metrics.coverage_error(debiased, record),
                "objects": len(found) / len(present),
                "effective rank": metrics.effective_dimension(debiased, record),
            }


def table(rows: Sequence[Mapping[str, Any]]) -> str:
    """Markdown: over all worlds, then the coverage error by one property of the world at a time."""
    text = "\n## All worlds\n\n"
    for measure_name in MEASURES:
        text += f"{measure_name}:\n\n" + _by(rows, "ratio", RATIOS, measure_name) + "\n"
    middle = [row for row in rows if row["ratio"] == 0.08]
    for name, values in GRID.items():
        text += f"## Coverage error at 8 %, by {name}\n\n"
        text += _by(middle, name, values, "coverage error") + "\n"
    return text


def _by(rows: Sequence[Mapping[str, Any]], key: str, values: Sequence[Any], measure: str) -> str:
    """Mean and 95 % by bootstrap over clips for every method and value of ``key``."""
    cells: dict[tuple[str, Any], list[Mapping[str, Any]]] = {}
    for row in rows:
        cells.setdefault((row["method"], row[key]), []).append(row)
    lines = [
        [name, *(_interval(cells[name, value], measure) for value in values)]
        for name in (BEST, *METHODS)
    ]
    heads = [f"{value:.0%}" if key == "ratio" else f"{key} {value}" for value in values]
    return markdown_table(["method", *heads], lines)


def _interval(group: Sequence[Mapping[str, Any]], measure: str) -> str:
    clips = [tuple(row[name] for name in (*GRID, "seed")) for row in group]
    found = clip_mean([row[measure] for row in group], clips)
    digits = {"coverage error": 3, "objects": 2, "effective rank": 0}[measure]
    return f"{found.value:.{digits}f} ({found.low:.{digits}f} to {found.high:.{digits}f})"


TEXT = """# Synthetic worlds

{clips} made-up clips of {units} units of {side} x {side} tokens, width {width}: {worlds} worlds,
{seeds} seeds each, over {grid}.
No model is involved. Written by

    python -m tools.synthetic_worlds --seeds {seeds} --out results/synthetic

coverage error: share of the energy of dropped tokens outside the span of the kept ones (`gleanvid
diagnose`), debiased; objects: fraction of the objects of which a token is kept. "{best}"
picks one after another the token that explains most of what all tokens still miss: it sees the
whole clip and looks at coverage alone, so it is not the best in objects or rank. In brackets 95 %
by bootstrap over clips. The backgrounds of these worlds drift slowly and evenly, which suits
spread-out choices such as Uniform; filmed clips need not be like them.
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--out", required=True, type=Path)
    options = parser.parse_args()
    worlds = [World(*values) for values in product(*GRID.values())]
    rows: list[dict[str, Any]] = []
    for number, world in enumerate(worlds):
        for seed in range(options.seeds):
            rows += measure(world, seed)
        print(f"{number + 1} of {len(worlds)}, load {os.getloadavg()[0]:.1f}", flush=True)
    options.out.mkdir(parents=True, exist_ok=True)
    with (options.out / "means.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow([*GRID, "ratio", "method", *MEASURES])
        writer.writerows(means := _means(rows))
    text = TEXT.format(
        clips=len(worlds) * options.seeds,
        worlds=len(worlds),
        seeds=options.seeds,
        grid=", ".join(f"{name} {values}" for name, values in GRID.items()),
        units=UNITS,
        side=SIDE,
        width=WIDTH,
        best=BEST,
    )
    write_whole(options.out / "table.md", text + standing(means) + table(rows))


def _means(rows: Sequence[Mapping[str, Any]]) -> list[list[Any]]:
    """Means over seeds, by world, ratio and method: the lines of ``means.csv``."""
    groups: dict[tuple[Any, ...], list[Mapping[str, Any]]] = {}
    for row in rows:
        key = tuple(row[name] for name in (*GRID, "ratio", "method"))
        groups.setdefault(key, []).append(row)
    return [
        [*key, *(round(fmean(row[name] for row in group), 5) for name in MEASURES)]
        for key, group in groups.items()
    ]


def standing(means: Sequence[Sequence[Any]]) -> str:
    """Where GleanVID's coverage error differs from others', by world, under one Holm correction."""
    errors: dict[tuple[str, float], list[float]] = {}
    for line in means:
        errors.setdefault((line[5], float(line[4])), []).append(float(line[6]))
    pairs = [(ratio, name) for ratio in RATIOS for name in METHODS if name != "GleanVID"]
    gaps = {
        (ratio, name): [
            theirs - ours
            for ours, theirs in zip(errors["GleanVID", ratio], errors[name, ratio], strict=True)
        ]
        for ratio, name in pairs
    }
    ps = holm([sign_flip(gaps[pair], range(len(gaps[pair]))) for pair in pairs])
    told = {pair: sum(gaps[pair]) > 0 for pair, p in zip(pairs, ps, strict=True) if p < 0.05}
    text = (
        "\n## GleanVID against the others\n\nCoverage error, sign-flip by world, Holm over all "
        f"{len(pairs)} comparisons, p < 0.05; others are not told apart.\n\n"
    )
    for ratio in RATIOS:
        sides = (
            ", ".join(name for of, name in told if of == ratio and told[of, name] is side)
            for side in (True, False)
        )
        text += "- {:.0%}: ahead of {}; behind {}.\n".format(
            ratio, *(side or "none" for side in sides)
        )
    return text


if __name__ == "__main__":
    main()
