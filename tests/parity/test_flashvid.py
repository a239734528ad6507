from collections import Counter

import pytest
import torch

from gleanvid.compressors import flashvid as module
from gleanvid.compressors.flashvid import FlashVID
from gleanvid.types import VideoTokens
from tests.parity.checksums import assert_checksum, features, grid, rows


@pytest.fixture
def tied(monkeypatch):
    """Set of the frames in which the authors' code chooses some cluster centres arbitrarily.

    In float32, very small densities become zero. If fewer points than clusters have a positive
    density, topk must take the other centres from points with the same score, zero.
    """
    frames, calls = set(), []
    peaks, merged = module.density_peaks, FlashVID._merged

    def watched(points, count, k):
        dense = int((densities(points, k) > 0).sum())
        calls.append(dense < count < len(points))
        return peaks(points, count, k)

    def segment(self, features, *others):
        calls.clear()
        shares = merged(self, features, *others)
        # density_peaks ran once per unit, in this order
        units = torch.unique(shares.place // features.shape[1])
        frames.update(unit for unit, tie in zip(units.tolist(), calls, strict=True) if tie)
        return shares

    monkeypatch.setattr(module, "density_peaks", watched)
    monkeypatch.setattr(FlashVID, "_merged", segment)
    return frames


def densities(points, k):
    """Return the density of each of the n points [n, D] as the authors compute it, float32 [n].

    It is exp(-m / D), where m is the mean of the k smallest squared distances.
    """
    distances = torch.cdist(points, points) / points.shape[1] ** 0.5
    return torch.exp(-distances.topk(k, largest=False).values.square().mean(dim=1))


def method(case):
    config = case["config"]
    return FlashVID(
        case["retention"],
        version=config["version"],
        min_segments=config["min_segments"],
        segment_threshold=config["segment_threshold"],
        alpha=config["alpha"],
        temporal_threshold=config["temporal_threshold"],
        expansion=config["expansion"],
        inner=True,
        layer=config["pruning_layer"],
        inner_retention=config["llm_retention"],
        num_layers=config["llm_layers"],
        exact=False,
    )


def test_flashvid_matches_its_authors_code(flashvid, tied):
    units, height, width = grid(flashvid)
    config, seed = flashvid["config"], flashvid["seed"]
    visual = config["feature_scale"] * features(flashvid)
    saliency = rows(1000 + seed, units, height * width).flatten()
    vision, inside = (stage for _, stage in method(flashvid).stages)
    tokens = VideoTokens(visual, grid(flashvid), saliency=saliency)
    record = vision.compress(tokens)
    keep = record.keep.tolist()
    assert record.budgets.tolist() == flashvid["frame_budgets"]
    assert record.num_kept == flashvid["n_kept"]
    lengths = [list(record.trace["segment"]).count(t) for t in range(units)]
    assert [n for n in lengths if n] == [n for n in flashvid["segments"] if n]
    assert (record.trace["picked"] == flashvid["n_adts"]).all()
    assert (record.trace["clusters"] == flashvid["n_tstm"]).all()
    if tied:
        assert_same_but_for_ties(keep, flashvid["kept"], tied, height * width)
    else:
        assert keep == flashvid["kept"]
        assert len(set(keep)) == flashvid["n_unique"]
        # Output tokens with equal indices have an arbitrary order. Then only sums are compared.
        alone = len(set(keep)) == len(keep)
        assert_checksum(record.apply(visual), flashvid["merged_checksum"], first=alone)
    text_before, text_after = 5, 7
    attention = rows(2000 + seed, 8, text_before + len(keep) + text_after)[:, None]
    later = VideoTokens(
        record.apply(visual),
        grid(flashvid),
        attention=attention[..., text_before:-text_after],
        positions=record.keep,
    )
    assert inside.compress(later).keep.tolist() == flashvid["llm_kept"]


def assert_same_but_for_ties(keep, kept, tied, per_unit):
    ours, theirs = Counter(keep), Counter(kept)
    different = (ours - theirs) + (theirs - ours)
    assert {place // per_unit for place in different} <= tied
    assert sum((ours & theirs).values()) >= 0.98 * len(kept)
