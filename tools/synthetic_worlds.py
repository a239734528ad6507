"""Compare compressors with a greedy reference selection on synthetic clips.

python -m tools.synthetic_worlds --out results/synthetic

The features of a clip are a background that drifts within a few directions, plus a mean and noise.
Objects replace the background: each has one direction, and covers 2 x 2 tokens for a few temporal
units. The reference selection is greedy column subset selection: each step takes the token that
best explains the residuals of all tokens.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import product
from statistics import fmean
from typing import Any

import torch

from gleanvid import metrics
from gleanvid.compressors import method_from
from gleanvid.types import Compression, VideoTokens
from tools.rows_and_table import run

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
    """A world: the properties of a kind of synthetic clip.

    ``rank``: number of directions of the background; ``life``: units for which an object lasts;
    ``noise`` and ``strength``: norms of the noise and of an object in a token, where the background
    has a norm of about 1.
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
    """Return the tokens of one clip, and the object that each token shows, int64 [L]; -1: none."""
    generator = torch.Generator().manual_seed(seed)

    def normal(*shape: int) -> torch.Tensor:
        return torch.randn(*shape, generator=generator)

    frames = torch.linspace(0, 1, UNITS)[:, None, None]
    first, last = normal(2, 1, SIDE * SIDE, world.rank)  # background of the first and last unit
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
    """Return the tokens of the greedy reference selection in their order, int64 [count]."""
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


def place_of(row: Mapping[str, Any]) -> tuple[Any, ...]:
    """Return the properties of the world, and the ratio, of a result row."""
    return tuple(row[name] for name in (*GRID, "ratio"))


def means(seeds: int) -> Iterator[dict[str, Any]]:
    """Yield one row for each world, ratio and method: means over seeds."""
    worlds = [World(*values) for values in product(*GRID.values())]
    for number, world in enumerate(worlds):
        groups: dict[tuple[float, str], list[Mapping[str, Any]]] = {}
        for row in (row for seed in range(seeds) for row in measure(world, seed)):
            groups.setdefault((row["ratio"], row["method"]), []).append(row)
        for (ratio, method), group in groups.items():
            values = {name: round(fmean(row[name] for row in group), 5) for name in MEASURES}
            yield vars(world) | {"ratio": ratio, "method": method} | values
        print(f"{number + 1} of {len(worlds)}, load {os.getloadavg()[0]:.1f}", flush=True)


def main() -> None:
    """Measure, or read earlier measurements, and write means.csv and table.md."""
    from tools.synthetic_tables import document

    run(__doc__ or "", "means.csv", ("seeds", 20), means, document)


if __name__ == "__main__":
    main()
