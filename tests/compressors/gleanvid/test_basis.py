import torch

from gleanvid.compressors.gleanvid.basis import GrowingBasis, RowFilter
from tests.compressors.gleanvid.test_debiasing import low_rank

FLOOR, CPU = 1e-4, torch.device("cpu")


def drawn(rows, width, seed=0):
    return torch.randn(rows, width, generator=torch.Generator().manual_seed(seed))


def test_basis_directions_span_the_independent_rows():
    rows = drawn(12, 40)
    found, rejected, _ = RowFilter(1e-4, FLOOR, 12, CPU).directions(rows)
    assert not rejected.any()
    assert torch.allclose(found @ found.T, torch.eye(12), atol=1e-5)
    assert torch.allclose(rows @ found.T @ found, rows, atol=1e-4)


def test_repeated_row_adds_no_direction_and_does_not_affect_later_rows():
    rows = drawn(6, 40)
    rows[2], rows[4] = rows[0], 2 * rows[1] - rows[0] + 1e-6 * drawn(1, 40, seed=1)[0]
    found, rejected, _ = RowFilter(1e-4, FLOOR, 12, CPU).directions(rows)
    assert rejected.tolist() == [False, False, True, False, True, False]
    assert not found[[2, 4]].any()
    alone, *_ = RowFilter(1e-4, FLOOR, 12, CPU).directions(rows[[0, 1, 3, 5]])
    assert torch.allclose(found[~rejected], alone, atol=1e-6)


def test_rejected_row_does_not_hide_a_direction_of_later_rows():
    first, last = torch.linalg.qr(drawn(40, 2)).Q.T
    slight, strong = first + 0.9 * FLOOR * last, first + 10 * FLOOR * last
    rows = torch.stack([first, slight, strong, strong])
    found, rejected, _ = RowFilter(1e-4, FLOOR, 12, CPU).directions(rows)
    assert rejected.tolist() == [False, True, False, True]
    assert torch.allclose(found[[0, 2]], torch.stack([first, last]), atol=1e-3)


def grown(points, step, kept):
    floor = 1e-5 * float(points.norm(dim=1).max())
    basis = GrowingBasis(points, kept, step, 1e-4, floor)
    for first in range(0, kept, step):
        basis.extend(basis.directions(basis.remove_from(points[first : first + step].clone())))
    return basis, basis.ranks([step] * (kept // step)).tolist()


def test_residual_after_removing_a_basis_equals_that_of_qr():
    points = low_rank(60, 24)
    basis, ranks = grown(points, 10, 40)
    assert ranks[-1] == 24  # the 40 rows span only 24 directions
    assert basis.remove_from(points.clone()).norm(dim=1).max() < 1e-5 * points.norm(dim=1).max()
    basis, _ = grown(points, 5, 15)
    q = torch.linalg.qr(points[:15].double().T).Q
    truth = points.double() - points.double() @ q @ q.T
    assert (basis.remove_from(points.clone()) - truth).abs().max() < 1e-5 * points.norm(dim=1).max()


def test_rejected_rows_leave_room_in_the_basis_for_new_rows():
    points = torch.cat([drawn(4, 16).repeat(8, 1), drawn(16, 16, seed=1)])
    basis, ranks = grown(points, 4, 48)
    assert ranks[-1] == 16
    assert basis.remove_from(points.clone()).abs().max() < 1e-4
