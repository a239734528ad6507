from itertools import product

import pytest
import torch

from gleanvid.compressors.sttm import STTM
from gleanvid.types import VideoTokens
from tests.parity.checksums import clip

GRIDS = ((6, 8, 8), (5, 14, 14), (4, 7, 7), (4, 6, 9), (3, 5, 8), (1, 8, 8), (7, 4, 4), (4, 2, 3))
THRESHOLDS = ((0.9, 0.8), (0.85, 0.9), (0.97, 0.95), (0.99, 0.98))
CASES = [(number % 3, *case) for number, case in enumerate(product(GRIDS, THRESHOLDS, (0, 1)))]


def halved(side):
    """Return the (start, end) of pairs of neighbouring cells along a side of ``side`` cells.

    If ``side`` is odd, the first cell has no partner.
    """
    odd = side % 2
    return [(0, 1)] * odd + [(start, start + 2) for start in range(odd, side, 2)]


def pyramid(frame, height, width, root_level):
    """Return the levels of a frame's quadtree, finest first.

    The ``root_level`` coarsest levels are left out. A level maps the (row, column) of a cell to
    (mean feature, token indices, cells of the next finer level).
    """
    finest = {
        (y, x): (frame[y * width + x], [y * width + x], [])
        for y in range(height)
        for x in range(width)
    }
    levels = [(height, width, finest)]
    while min(height, width) > 2:
        below = levels[-1][2]
        above = {}
        for i, (top, bottom) in enumerate(halved(height)):
            for j, (left, right) in enumerate(halved(width)):
                inside = [(y, x) for y in range(top, bottom) for x in range(left, right)]
                mean = sum(below[key][0] for key in inside) / len(inside)
                above[i, j] = (mean, [t for key in inside for t in below[key][1]], inside)
        height, width = (height + 1) // 2, (width + 1) // 2
        levels.append((height, width, above))
    return levels[: max(1, len(levels) - root_level)]


def cosine(a, b):
    return float(a @ b) / max(float(a.norm() * b.norm()), 1e-12)


def standing(levels, threshold):
    """Return (feature, sorted token indices) of the quadtree cells into which a frame is merged.

    Cells are split from the coarsest level on, unless the cosine of a cell to each of its children
    reaches ``threshold``.
    """
    found = []

    def visit(number, key):
        feature, tokens, children = levels[number][2][key]
        if number:
            below = levels[number - 1][2]
            padded = children + [(0, 0)] * (4 - len(children))
            if not all(cosine(feature, below[child][0]) >= threshold for child in padded):
                for child in children:
                    visit(number - 1, child)
                return
        found.append((feature, sorted(tokens)))

    for key in levels[-1][2]:
        visit(len(levels) - 1, key)
    return sorted(found, key=lambda cell: cell[1][0])


def rows_of(features, grid, spatial, temporal, root_level):
    """Return first token index and feature of every merged token, by the authors' method."""
    units, height, width = grid
    frames = features.double().view(units, height * width, -1)
    cells = []  # (unit, set of tokens, sorted tokens, mean feature)
    for unit in range(units):
        levels = pyramid(frames[unit], height, width, root_level)
        cells += [(unit, set(inside), inside, mean) for mean, inside in standing(levels, spatial)]
    pairs = [
        (i, j)
        for i, one in enumerate(cells)
        for j, two in enumerate(cells)
        if two[0] == one[0] + 1
        and (one[1] <= two[1] or two[1] <= one[1])
        and cosine(one[3], two[3]) >= temporal
    ]
    label = list(range(len(cells)))
    while True:
        lowest = [min(label[i], label[j]) for i, j in pairs]
        for (i, j), low in zip(pairs, lowest, strict=True):
            label[i], label[j] = min(label[i], low), min(label[j], low)
        label = [label[one] for one in label]
        if label == [label[one] for one in label]:
            break
    kept, rows = [], []
    for place, (unit, _, inside, _) in enumerate(cells):
        members = [cells[other][3] for other in range(len(cells)) if label[other] == place]
        if members:
            kept.append(unit * height * width + inside[0])
            rows.append(sum(members) / len(members))
    return kept, torch.stack(rows)


@pytest.mark.parametrize(("seed", "grid", "thresholds", "root_level"), CASES)
def test_sttm_matches_a_float64_transcription(seed, grid, thresholds, root_level):
    features = clip(seed, grid)
    spatial, temporal = thresholds
    method = STTM(
        spatial_threshold=spatial, temporal_threshold=temporal, root_level=root_level, exact=False
    )
    record = method.compress(VideoTokens(features, grid))
    kept, rows = rows_of(features, grid, spatial, temporal, root_level)
    assert record.keep.tolist() == kept
    torch.testing.assert_close(record.apply(features).double(), rows, rtol=1e-4, atol=1e-4)


def test_sttm_s_exact_budget_scales_spatial_and_temporal_distances_by_one_factor():
    features = clip(3, (8, 8, 8))
    tokens = VideoTokens(features, (8, 8, 8))
    exact = STTM(0.3).compress(tokens)
    scale = float(exact.trace["scale"])
    loose = STTM(0.3, 1 - 0.15 * scale, 1 - 0.45 * scale, exact=False).compress(tokens)
    assert exact.num_kept == 153
    # exact=False takes no tokens out of their means to reach the exact token budget
    assert loose.num_kept == pytest.approx(153, abs=8)
