"""GleanVID's equations in float64, step by step, at its default settings: slow, and easy to read.

Line numbers are those of the paper's algorithms. Tests compare :class:`GleanVID` with it.

===========================================  ====================================================
step                                         in the implementation
===========================================  ====================================================
:func:`debias` (Alg. 1, lines 1-6)           ``debiasing.top_directions``, ``DebiasedClip``
:func:`novelty` (Alg. 1, lines 7-15)         ``budget.history_residuals``
:func:`unit_budgets` (Alg. 1, lines 16-18)   ``budget.novelty_shares``
:func:`rounded` (Alg. 1, lines 19-20)        ``shared.apportion``
:func:`local_scores` (Alg. 2, lines 5-8)     ``select.local_scores``
:func:`select` (Alg. 2, lines 9-15, 19-25)   ``residuals.SubspaceEvidence``, ``select``
:func:`new_directions` (Alg. 2, 16-17)       ``basis.RowFilter``
===========================================  ====================================================

Five guards, marked "guard" below, are not in the paper. They act only where rounding errors would
decide. Sizes are relative to the largest norm of a debiased token, except that of ties.

==================  ================================================================================
guard               reason
==================  ================================================================================
floor, 1e-5         A new direction must be longer. In a still scene all residuals become rounding
                    errors, which Eq. qr_filter compares only with each other.
saturation, 1e-3    The joint score uses residual norms only if one is larger than this.
accepted rows only  Later rows are not made orthogonal to a rejected row, which is rounding noise.
tie band, 1e-4      Joint scores this close to the last one kept are equal; the lower index wins.
constant band,      Scores that spread over no more are all zeros after min-max, which would scale
1e-6                rounding errors to [0, 1]. For the local score, the spread itself counts.
==================  ================================================================================
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import torch

if TYPE_CHECKING:
    from torch import Tensor

ALPHA_MIN, ALPHA_MAX, TAU = 0.2, 0.6, 4.0
RIDGE = ORTH_TOLERANCE = 1e-4
CELL = 2  # side of a pooling cell, in tokens
# guards, relative to the largest norm of a debiased token
FLOOR, SATURATED, CONSTANT = 1e-5, 1e-3, 1e-6
TIED = 1e-4  # guard: joint scores this close to the last one kept are equal to it

Cells = list[list[int]]  # for every pooling cell, the grid positions in it


def kept_tokens(features: Tensor, grid: tuple[int, int, int], ratio: float) -> set[int]:
    """Indices of the tokens that GleanVID keeps.

    Args:
        features: Visual tokens [T*N, D].
        grid: (T, rows, columns).
        ratio: The retention ratio.

    Returns:
        Flat indices t*N + n.
    """
    x = features.double()
    debiased = debias(x)
    x, debiased = (rows.view(grid[0], -1, x.shape[1]) for rows in (x, debiased))
    cells = pooling_cells(*grid[1:])
    total = max(1, math.floor(ratio * len(features) + 1e-9))
    budgets = unit_budgets(novelty(debiased, cells), total, debiased.shape[1])
    return select(x, debiased, cells, budgets)


def debias(x: Tensor) -> Tensor:
    """Remove the first principal direction from tokens [L, D] (Alg. 1, lines 1-6; Eq. debias)."""
    mean = x.mean(0)
    direction = torch.linalg.svd(x - mean, full_matrices=False).Vh[0]
    return x - ((x - mean) @ direction)[:, None] * direction


def pooling_cells(rows: int, columns: int) -> Cells:
    """Neighbourhoods N(n): lists of positions, cells of 2 x 2 from the top left.

    Cells at the right and bottom edges of an odd grid are smaller.
    """
    by_cell: dict[tuple[int, int], list[int]] = {}
    for place in range(rows * columns):
        key = (place // columns // CELL, place % columns // CELL)
        by_cell.setdefault(key, []).append(place)
    return list(by_cell.values())


def cell_novelty(debiased: Tensor, cells: Cells) -> Tensor:
    """Novelty r [T, C] of every pooling cell (Alg. 1, lines 7-14; Eq. novelty)."""
    found = torch.zeros(len(debiased), len(cells), dtype=torch.float64)
    for number, cell in enumerate(cells):  # all positions of a cell share one prototype z
        z = debiased[:, cell].mean(1)
        for unit in range(len(z)):
            square = z[unit] @ z[unit]
            if unit:  # Eq. batched_gram, with all preceding units as history
                past = z[:unit]
                gram = past @ past.T
                gram = gram + RIDGE * gram.diagonal().mean() * torch.eye(unit)
                b = past @ z[unit]
                square = square - b @ torch.linalg.solve(gram, b)
            found[unit, number] = square.clamp(min=0).sqrt()
    return found


def novelty(debiased: Tensor, cells: Cells) -> Tensor:
    """Temporal novelty R [T] of debiased tokens [T, N, D] (Alg. 1, line 15).

    ``cells``: for every pooling cell, the grid positions in it.
    """
    sizes = torch.tensor([len(cell) for cell in cells])
    return (cell_novelty(debiased, cells) * sizes).sum(1)


def gini(r: Tensor) -> Tensor:
    """Gini coefficient of the novelty r [T] of the units (Alg. 1, line 17; Eq. gini)."""
    units = len(r)
    ranked = (torch.arange(1, units + 1) * r.sort().values).sum()
    return (2 * ranked / (units * r.sum()) - (units + 1) / units).clamp(0, 1)


def unit_budgets(r: Tensor, total: int, per_unit: int) -> list[int]:
    """Number of tokens k_t to keep in every unit (Alg. 1, lines 16-20); their sum is ``total``.

    ``r`` [T]: novelty of the units. ``per_unit``: number of tokens of a unit.
    """
    share = r / r.sum()  # Alg. 1, line 16
    alpha = ALPHA_MAX - (ALPHA_MAX - ALPHA_MIN) * gini(r)  # Alg. 1, line 18, Eq. adaptive_alpha
    quota = total * (alpha / len(r) + (1 - alpha) * share)  # Alg. 1, line 19, Eq. budget
    return rounded(quota, total, per_unit)


def rounded(quota: Tensor, total: int, cap: int) -> list[int]:
    """Round budgets [T] to integers by largest remainder (Alg. 1, line 20).

    They sum to ``total``, and each is at most ``cap``.
    """
    while (quota > cap + 1e-9).any():
        full = quota >= cap
        rest = total - cap * int(full.sum())
        quota = torch.where(full, float(cap), rest * quota / quota[~full].sum())
    budgets = (quota + 1e-9).floor().long()
    missing = total - int(budgets.sum())
    budgets[(quota - budgets).sort(descending=True, stable=True).indices[:missing]] += 1
    return budgets.tolist()


def select(x: Tensor, debiased: Tensor, cells: Cells, budgets: list[int]) -> set[int]:
    """Flat indices t*N + n of the kept tokens (Algorithm 2).

    Args:
        x: tokens [T, N, D] before debiasing.
        debiased: the same tokens debiased.
        cells: for every pooling cell, the grid positions in it.
        budgets: number of tokens to keep of each unit.
    """
    per_unit = x.shape[1]
    scale = debiased.norm(dim=-1).max()
    basis = x.new_zeros(0, x.shape[-1])  # Q, Alg. 2, line 2
    kept: set[int] = set()
    for unit, budget in enumerate(budgets):
        residual = outside(debiased[unit], basis)  # Alg. 2, lines 3, 15, 21: Eq. incremental_scs
        v = residual.norm(dim=1)  # Alg. 2, line 9, Eq. scr
        score = min_max(local_scores(x[unit], cells), CONSTANT)  # Alg. 2, line 11
        if v.max() > SATURATED * scale:  # guard: below this, no token of the unit is new
            score = score + min_max(v, float(CONSTANT * scale))  # Alg. 2, line 12
        chosen = best(score, budget)  # Alg. 2, line 13
        kept |= {unit * per_unit + place for place in chosen}  # Alg. 2, line 14
        # Alg. 2, line 18
        basis = torch.cat([basis, new_directions(residual[chosen], basis, scale)])
    return kept


def local_scores(unit: Tensor, cells: Cells) -> Tensor:
    """Local representativeness u [N] of the N tokens of a unit (Alg. 2, lines 5-8; Eq. ncd).

    The tokens [N, D] are those before debiasing.
    """
    cosine = torch.nn.functional.cosine_similarity
    near = torch.empty_like(unit)
    for cell in cells:
        near[cell] = unit[cell].mean(0)
    difference = cosine(unit, near) - cosine(unit, unit.mean(0, keepdim=True))
    return torch.nn.functional.softplus(TAU * difference) / TAU


def min_max(values: Tensor, constant: float) -> Tensor:
    """Scale values [N] to [0, 1]; all 0 if they differ by ``constant`` or less (guard)."""
    low, high = values.min(), values.max()
    return (values - low) / (high - low) if high - low > constant else torch.zeros_like(values)


def best(score: Tensor, budget: int) -> list[int]:
    """Positions of the ``budget`` highest scores [N], best first.

    Guard: among scores tied with the last one kept, the lower index comes first.
    """
    ranked = sorted(range(len(score)), key=lambda place: -score[place])
    last = score[ranked[budget - 1]] if budget else math.inf
    tied = sorted(place for place in ranked if abs(score[place] - last) <= TIED)
    above = [place for place in ranked if score[place] > last + TIED]
    return (above + tied)[:budget]


def new_directions(rows: Tensor, basis: Tensor, scale: Tensor) -> Tensor:
    """Orthonormal directions that ``rows`` add to the basis (Alg. 2, lines 16-17).

    ``rows`` [k, D]: residuals of the kept tokens of a unit. Guards: a row is accepted only if its
    distance from the span of basis and accepted rows passes Eq. qr_filter and is above
    ``FLOOR`` * ``scale``. ``scale``: largest norm of a debiased token.
    """
    found = every = rows.new_zeros(0, rows.shape[1])
    sizes: list[Tensor] = []
    for row in rows:  # the largest |R_jj| is over all rows, accepted or not
        rest = outside(row, torch.cat([basis, every]))
        sizes.append(rest.norm())
        if sizes[-1] > 1e-9 * scale:
            every = torch.cat([every, rest[None] / sizes[-1]])
    least = max([ORTH_TOLERANCE * max(sizes), FLOOR * scale]) if sizes else scale
    for row in rows:
        rest = outside(row, torch.cat([basis, found]))
        if rest.norm() > least:
            found = torch.cat([found, rest[None] / rest.norm()])
    return found


def outside(rows: Tensor, basis: Tensor) -> Tensor:
    """Return vectors [..., D] without their projection on an orthonormal basis [q, D].

    This is done twice, because the first time leaves rounding errors.
    """
    for _ in range(2):
        rows = rows - (rows @ basis.T) @ basis
    return rows
