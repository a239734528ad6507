from itertools import product

import pytest
import torch

from gleanvid.compressors.aot import AOT
from gleanvid.types import VideoTokens
from tests.golden.inputs import attention_rows
from tests.parity.checksums import clip

GRIDS = ((8, 6, 6), (16, 9, 9), (12, 5, 7), (3, 4, 4), (1, 6, 6))
SHARES = ((0.3, 0.5, 0.4), (0.1, 0.5, 0.25), (0.6, 0.0, 0.3), (0.3, 0.8, 0.5))
CASES = [(number % 3, *case) for number, case in enumerate(product(GRIDS, SHARES, (8, 3)))]


def tokens_of(seed, grid):
    features = clip(seed, grid)
    # subtract most of the mean, as otherwise all features would have nearly equal distances
    features = features - 0.9 * features.mean(dim=0)
    saliency = torch.from_numpy(attention_rows(seed, grid[0], grid[1] * grid[2])).flatten()
    return VideoTokens(features, grid, saliency=saliency)


def transport(cost):
    """Return optimal transport plans [B, m, n] for costs [B, m, n], by Sinkhorn's iteration.

    It stops when the scales of the rows change by less than 0.01 on average.
    """
    kernel = torch.exp(-cost / 0.1)
    batch, m, n = kernel.shape
    r, c = torch.ones(batch, m).double(), torch.ones(batch, n).double()
    for _ in range(100):
        old = r
        r = (1 / m) / torch.einsum("bmn,bn->bm", kernel, c)
        c = (1 / n) / torch.einsum("bmn,bm->bn", kernel, r)
        if float((r - old).abs().mean()) < 1e-2:
            break
    return torch.einsum("bm,bmn,bn->bmn", r, kernel, c)


def cosines(a, b):
    return torch.stack([torch.nn.functional.cosine_similarity(row[None], b, dim=1) for row in a])


def anchors_of(saliency, height, width, count, local):
    """Return the indices of a frame's ``count`` anchors, by saliency.

    A fraction ``local`` of them is divided among 3 x 3 windows; the rest are the most salient
    of the other tokens.
    """
    near, windows = int(count * local), {}
    for place in range(height * width):
        key = (place // width * 3 // height, place % width * 3 // width)
        windows.setdefault(key, []).append(place)
    best = {key: sorted(inside, key=lambda p: -saliency[p]) for key, inside in windows.items()}
    chosen = [place for inside in best.values() for place in inside[: near // 9]]
    rest = sorted(set(range(height * width)) - set(chosen), key=lambda p: -saliency[p])
    return sorted(chosen + rest[: count - near])


def merged_units(frames, anchors, height, width):
    """Yield each unit's anchor features after the unit's other tokens are merged into them."""
    where = [(i / (height - 1), j / (width - 1)) for i in range(height) for j in range(width)]
    where = torch.tensor(where).double()
    pairs = []
    for frame, own in zip(frames, anchors, strict=True):
        rest = [place for place in range(len(frame)) if place not in own]
        gap = (where[rest][:, None] - where[own]).norm(dim=-1)
        pairs.append((own, rest, cosines(frame[rest], frame[own]), gap))
    plans = transport(torch.stack([1 - cosine + 0.5 * gap for *_, cosine, gap in pairs]))
    for frame, (own, rest, cosine, _), plan in zip(frames, pairs, plans, strict=True):
        rows, nearest = [], cosine.argmax(dim=1).tolist()
        for number, anchor in enumerate(own):
            moved = (frame[anchor] + plan[:, number] @ frame[rest]) / (1 + plan[:, number].sum())
            joined = [place for place, one in zip(rest, nearest, strict=True) if one == number]
            mean = torch.stack([frame[anchor], *frame[joined]]).mean(dim=0)
            rows.append(0.9 * moved + 0.1 * mean)
        yield torch.stack(rows)


def rows_of(tokens, clips, residual, local, share):
    """Return (flat token index, 1 if merged over time or 0, feature) of every output token."""
    units, height, width = tokens.grid
    size = height * width
    frames, saliency = (
        tokens.features.double().view(units, size, -1),
        tokens.saliency.view(units, -1),
    )
    count = max(1, int(share * size))
    anchors = [anchors_of(unit.tolist(), height, width, count, local) for unit in saliency]
    made = list(merged_units(frames, anchors, height, width))
    clips, found = min(clips, units), []
    for number in range(clips):
        start, stop = number * units // clips, (number + 1) * units // clips
        flat = [[unit * size + place for place in anchors[unit]] for unit in range(units)]
        found += [(place, 0, row) for place, row in zip(flat[start], made[start], strict=True)]
        if stop - start == 1:
            continue
        current = made[start]
        for unit in range(start + 1, stop):
            distance = 1 - cosines(made[unit], current).clamp(-1 + 1e-6, 1 - 1e-6)
            cost = distance - distance.min()
            age = torch.tensor(float(unit - start))
            plan = transport((cost * (1 - torch.exp(-age * age / 4.5)))[None])[0]
            part = plan / plan.sum(dim=1, keepdim=True)
            best = part.max(dim=1).values
            stays = (best < torch.quantile(best, residual)).tolist()
            goes = [m for m, own in enumerate(stays) if not own]
            taken = part[goes]
            current = (current + taken.T @ made[unit][goes]) / (1 + taken.sum(dim=0)[:, None])
            found += [(flat[unit][m], 0, made[unit][m]) for m, own in enumerate(stays) if own]
        found += [(place, 1, row) for place, row in zip(flat[start], current, strict=True)]
    return sorted(found, key=lambda row: row[:2])


@pytest.mark.parametrize(("seed", "grid", "shares", "clips"), CASES)
def test_aot_matches_a_float64_transcription(seed, grid, shares, clips):
    tokens = tokens_of(seed, grid)
    record = AOT(clips=clips, residual=shares[0], local=shares[1], anchors=shares[2], exact=False)
    record = record.compress(tokens)
    expected = rows_of(tokens, clips, *shares)
    assert record.keep.tolist() == [place for place, _, _ in expected]
    rows = torch.stack([row for _, _, row in expected])
    torch.testing.assert_close(record.apply(tokens.features).double(), rows, rtol=1e-4, atol=1e-4)


def test_aot_s_exact_budget_is_divided_between_first_and_later_units_of_each_part_of_the_video():
    record = AOT(0.25, clips=4, residual=0.3).compress(tokens_of(2, (16, 9, 9)))
    later = record.budgets.view(4, 4)[:, 1:].sum(dim=1)
    anchors = record.trace["anchors"].view(4, 4)[:, 0]
    assert record.num_kept == 324
    assert torch.equal(record.budgets.view(4, 4)[:, 0], 2 * anchors)
    assert ((later - 0.9 * anchors).abs() < 3).all()
