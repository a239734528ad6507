import pytest

from gleanvid.compressors.vidcom2 import VidCom2
from gleanvid.types import VideoTokens
from tests.parity.checksums import features, grid


def test_vidcom2_matches_its_authors_code(vidcom2):
    config = vidcom2["config"]
    method = VidCom2(vidcom2["retention"], config["channel_ratio"], config["temperature"], False)
    record = method.compress(VideoTokens(features(vidcom2), grid(vidcom2)))
    assert record.keep.tolist() == vidcom2["kept"]
    assert record.budgets.tolist() == vidcom2["frame_budgets"]
    assert record.num_kept == vidcom2["n_kept"]
    if "scales" in vidcom2:
        assert record.trace["share"].tolist() == pytest.approx(vidcom2["scales"], rel=1e-5)
    if "grid_order" in vidcom2:
        assert with_newlines(record, *grid(vidcom2)) == vidcom2["grid_order"]


def with_newlines(record, units, rows, columns):
    """Return indices of the kept tokens in a grid that has a newline token after every row.

    For each unit they list its kept tokens and then all its newlines.
    """
    wide, order = columns + 1, []
    for unit, kept in enumerate(record.keep.split(record.budgets.tolist())):
        local = kept - unit * rows * columns
        first = unit * rows * wide
        order += (first + local // columns * wide + local % columns).tolist()
        order += [first + row * wide + columns for row in range(rows)]
    return order
