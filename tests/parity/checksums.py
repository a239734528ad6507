"""Inputs of a golden case and the comparison of merged rows with its checksum."""

import pytest
import torch

from tests.golden.inputs import attention_rows, video_features


def rows(seed, count, width):
    """Made-up softmax rows [count, width]."""
    return torch.from_numpy(attention_rows(seed, count, width))


def features(case):
    """Visual tokens [T*N, D] of a case."""
    grid = (case["frames"], case["height"], case["width"])
    return torch.from_numpy(video_features(case["seed"], *grid, case["dim"])).flatten(0, 1)


def grid(case):
    return case["frames"], case["height"], case["width"]


def in_order(record, out, order):
    """Rows of ``out`` [K, D], which ascend by index, in the original's order of output."""
    return out[torch.searchsorted(record.keep, torch.tensor(order))]


def assert_checksum(out, expected, first=True):
    """Sum and norm to 1e-5 relative; ``first``: the first eight values too."""
    out = out.double()
    assert list(out.shape) == expected["shape"]
    assert float(out.sum()) == pytest.approx(expected["sum"], rel=1e-5)
    assert float(out.norm()) == pytest.approx(expected["l2"], rel=1e-5)
    if first:
        assert out.flatten()[:8].tolist() == pytest.approx(expected["first8"], rel=1e-5, abs=1e-5)
