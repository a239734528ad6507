import pytest
import torch

from gleanvid.compressors.gleanvid.debiasing import DebiasedClip
from gleanvid.compressors.gleanvid.residuals import SubspaceEvidence
from tests.compressors.gleanvid.test_debiasing import clip


def test_ranks_are_the_dimensions_of_the_kept_tokens_span_after_every_unit():
    _, debiased = clip()
    evidence = SubspaceEvidence(debiased, [3, 0, 2], 1e-4)
    for unit, chosen in ((0, [0, 1, 2]), (1, []), (2, [4, 5])):
        complement = evidence.complement(unit)
        if chosen:
            evidence.absorb(torch.tensor(chosen))
    trace = evidence.trace([3, 0, 2], complement[None].expand(3, -1))
    assert trace["basis_rank"].tolist() == [3, 3, 5] and not trace["saturated"].any()


def noise(units, width):
    """Return noise tokens [T, 12, D] with a large mean, like real tokens."""
    generator = torch.Generator().manual_seed(3)
    tokens = torch.randn(units, 12, width, generator=generator)
    return tokens + 30 * torch.randn(width, generator=generator)


def repeats(units, width):
    """Return noise tokens [T, 12, D]; the first half of the units repeats the same four tokens."""
    tokens = noise(units, width)
    tokens[: units // 2] = tokens[0, :4].repeat(3, 1)
    return tokens


def details(units, width):
    """Return noise tokens [T, 12, D]; two units in three nearly repeat the unit before.

    Two of their tokens differ from it, by about a hundredth of the token's norm.
    """
    tokens = noise(units, width)
    for unit in range(units):
        if unit % 3:
            tokens[unit, :10] = tokens[unit - 1, :10]
            tokens[unit, 10:] = tokens[unit - 1, 10:] + 0.01 * tokens[unit, 10:].roll(1, -1)
    return tokens


@pytest.mark.parametrize(
    ("made", "width", "budgets"),
    [
        (noise, 96, [9, 4, 6, 2, 8, 3, 5, 7, 4, 6, 5]),
        (noise, 96, [0, 0, 9, 4, 0, 6, 2, 8, 3, 0, 5]),  # some units keep no token
        (details, 200, [12, 12, 12] * 4),  # new content has 1 % of the norm of repeated content
        (noise, 24, [9, 8, 7, 6, 5, 6, 7, 8, 9, 8, 7]),  # the basis becomes full
        # kept tokens that repeat earlier ones do not fill the basis of the kept tokens
        (repeats, 40, [10, 9, 9, 9, 9, 2, 2, 2, 2, 2, 2, 2]),
    ],
)
def test_residuals_equal_those_of_plain_projections(made, width, budgets):
    features = made(len(budgets), width)
    debiased = DebiasedClip.of(features, features.mean((0, 1)), features.new_zeros(0, width))
    evidence, kept = SubspaceEvidence(debiased, budgets, 1e-4), torch.zeros(0, width).double()
    for unit, budget in enumerate(budgets):
        tokens = features[unit].double()
        _, sizes, rows = torch.linalg.svd(kept, full_matrices=False)
        basis = rows[sizes > 1e-6 * sizes.max()] if len(kept) else rows
        left = (tokens - tokens @ basis.T @ basis).norm(dim=1)
        error = (evidence.complement(unit) - left).abs().max() / debiased.scale
        assert error < 3e-6, unit
        if budget:
            chosen = torch.arange(budget)
            evidence.absorb(chosen)
            kept = torch.cat([kept, tokens[chosen]])
