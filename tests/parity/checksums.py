"""Make the inputs of a golden case (results of the authors' code); check merged features."""

import pytest
import torch

from tests.golden.inputs import attention_rows, video_features


def rows(seed, count, width):
    return torch.from_numpy(attention_rows(seed, count, width))


def features(case):
    grid = (case["frames"], case["height"], case["width"])
    return torch.from_numpy(video_features(case["seed"], *grid, case["dim"])).flatten(0, 1)


def grid(case):
    return case["frames"], case["height"], case["width"]


def clip(seed, grid):
    return torch.from_numpy(video_features(seed, *grid, 24)).flatten(0, 1)


def attention_rows_of(case, count):
    """Return made-up attention [heads, 1, count] of the last text token to the visual tokens."""
    before, text = case["config"]["text_before"], _text_length(case)
    made = rows(case["seed"] + 2000, case["config"]["heads"], text + count)
    return made[:, None, before : before + count]


def between_text(case, visual):
    """Return the embeddings of a prompt: text, the K visual tokens ``visual`` [K, D], text."""
    before = case["config"]["text_before"]
    text = rows(case["seed"] + 1000, _text_length(case), case["dim"])
    return torch.cat([text[:before], visual, text[before:]])


def _text_length(case):
    return case["config"]["text_before"] + case["config"]["text_after"]


def in_order(record, out, order):
    """Reorder the record's output tokens ``out`` [K, D], which are in ascending order of index.

    ``order`` lists the same indices in the order of the authors' code.
    """
    return out[torch.searchsorted(record.keep, torch.tensor(order))]


def assert_checksum(out, expected, first=True):
    """Check shape, sum and norm of ``out``, to a relative 1e-5.

    With ``first``, its first eight values are checked, too.
    """
    out = out.double()
    assert list(out.shape) == expected["shape"]
    assert float(out.sum()) == pytest.approx(expected["sum"], rel=1e-5)
    assert float(out.norm()) == pytest.approx(expected["l2"], rel=1e-5)
    if first:
        assert out.flatten()[:8].tolist() == pytest.approx(expected["first8"], rel=1e-5, abs=1e-5)
