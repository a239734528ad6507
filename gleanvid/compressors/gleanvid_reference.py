"""GleanVID's equations in float64, one after the other and slowly, with nothing of the library."""

from __future__ import annotations

import math

import torch
from torch import Tensor

FLOOR, SATURATED, CONSTANT = 1e-5, 1e-3, 1e-6  # of the largest norm; of cosines
TIED = 1e-4  # joint scores this close to the last one chosen go by their index


def kept_tokens(features: Tensor, grid: tuple[int, int, int], ratio: float) -> set[int]:
    """The kept indices at default settings; features [L, D]."""
    x = features.double()
    mean = x.mean(0)
    direction = torch.linalg.svd(x - mean, full_matrices=False).Vh[0]
    debiased = x - ((x - mean) @ direction)[:, None] * direction
    x, debiased = (rows.view(grid[0], -1, x.shape[1]) for rows in (x, debiased))
    cells = [pixels for pixels in pooling_cells(grid) if pixels]
    budgets = unit_budgets(debiased, cells, max(1, math.floor(ratio * len(features) + 1e-9)))
    return select(x, debiased, cells, budgets)


def pooling_cells(grid: tuple[int, int, int]) -> list[list[int]]:
    """The positions of every 2 x 2 cell, row-major."""
    _, rows, columns = grid
    return [
        [r * columns + c for r in range(top, min(top + 2, rows)) for c in range(left, left + 2)
         if c < columns]
        for top in range(0, rows, 2)
        for left in range(0, columns, 2)
    ]  # fmt: skip


def unit_budgets(debiased: Tensor, cells: list[list[int]], total: int) -> list[int]:
    """Algorithm 1."""
    units, per_unit = debiased.shape[:2]
    novelty = torch.zeros(units, dtype=torch.float64)
    for cell in cells:
        z = debiased[:, cell].mean(1)
        for unit in range(units):
            square = z[unit] @ z[unit]
            if unit:
                past = z[:unit]
                gram = past @ past.T
                gram = gram + 1e-4 * gram.diagonal().mean() * torch.eye(unit)
                b = past @ z[unit]
                square = square - b @ torch.linalg.solve(gram, b)
            novelty[unit] += len(cell) * square.clamp(min=0).sqrt()
    share, order = novelty / novelty.sum(), novelty.sort().values
    gini = 2 * (torch.arange(1, units + 1) * order).sum() / (units * novelty.sum())
    gini = (gini - (units + 1) / units).clamp(0, 1)
    alpha = 0.6 - 0.4 * gini
    quota = total * (alpha / units + (1 - alpha) * share)
    while (quota > per_unit + 1e-9).any():
        full = quota >= per_unit
        rest = total - per_unit * int(full.sum())
        quota = torch.where(full, float(per_unit), rest * quota / quota[~full].sum())
    budgets = (quota + 1e-9).floor().long()
    for unit in (
        (quota - budgets).sort(descending=True, stable=True).indices[: total - int(budgets.sum())]
    ):
        budgets[unit] += 1
    return budgets.tolist()


def select(x: Tensor, debiased: Tensor, cells: list[list[int]], budgets: list[int]) -> set[int]:
    """Algorithm 2, with each chosen row judged against the accepted rows before it."""
    per_unit = x.shape[1]
    scale = debiased.norm(dim=-1).max()
    basis = x.new_zeros(0, x.shape[-1])
    kept: set[int] = set()
    for unit, budget in enumerate(budgets):
        residual = debiased[unit] - (debiased[unit] @ basis.T) @ basis
        v = residual.norm(dim=1)
        u = local_scores(x[unit], cells)
        score = scaled(u, CONSTANT)
        if v.max() > SATURATED * scale:
            score = score + scaled(v, float(CONSTANT * scale))
        chosen = best(score, budget)
        kept |= {unit * per_unit + int(place) for place in chosen}
        basis = torch.cat([basis, accepted(residual[chosen], basis, scale)])
    return kept


def best(score: Tensor, budget: int) -> list[int]:
    """The highest scores, best first; those tied with the last one chosen by their index."""
    ranked = sorted(range(len(score)), key=lambda place: -score[place])
    last = score[ranked[budget - 1]] if budget else math.inf
    tied = sorted(place for place in ranked if abs(score[place] - last) <= TIED)
    above = [place for place in ranked if score[place] > last + TIED]
    return (above + tied)[:budget]


def accepted(rows: Tensor, basis: Tensor, scale: Tensor) -> Tensor:
    """Orthonormal directions of the rows that pass the filter, by Gram-Schmidt."""
    found = rows.new_zeros(0, rows.shape[1])
    sizes: list[Tensor] = []
    every = rows.new_zeros(0, rows.shape[1])
    for row in rows:  # the largest |R_jj| is over all rows
        rest = outside(row, torch.cat([basis, every]))
        sizes.append(rest.norm())
        if sizes[-1] > 1e-9 * scale:
            every = torch.cat([every, rest[None] / sizes[-1]])
    least = max([1e-4 * max(sizes), FLOOR * scale]) if sizes else scale
    for row in rows:
        rest = outside(row, torch.cat([basis, found]))
        if rest.norm() > least:
            found = torch.cat([found, rest[None] / rest.norm()])
    return found


def outside(row: Tensor, basis: Tensor) -> Tensor:
    for _ in range(2):
        row = row - (row @ basis.T) @ basis
    return row


def local_scores(unit: Tensor, cells: list[list[int]]) -> Tensor:
    cosine = torch.nn.functional.cosine_similarity
    near = torch.empty_like(unit)
    for cell in cells:
        near[cell] = unit[cell].mean(0)
    difference = cosine(unit, near) - cosine(unit, unit.mean(0, keepdim=True))
    return torch.nn.functional.softplus(4 * difference) / 4


def scaled(values: Tensor, spread: float) -> Tensor:
    low, high = values.min(), values.max()
    return (values - low) / (high - low) if high - low > spread else torch.zeros_like(values)
