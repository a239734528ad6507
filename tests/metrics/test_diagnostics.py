import numpy as np
import torch

from gleanvid import metrics
from gleanvid.cost import Cost
from gleanvid.run import Run
from gleanvid.types import Compression, Video
from tests.metrics.cases import clip


def a_run(kept):
    units = kept.grid[0]
    video = Video.from_frames(np.zeros((units, 8, 8, 3), np.uint8), 1)
    cost = Cost(120, kept.num_kept, 130, 40, 0.1, 0.1, 0.1, 0.1, 0.1, 3, 100.0, 1.0, 2.0)
    seconds, boxes = torch.zeros(units, 2), torch.zeros(20, 4)
    return Run(video, "what?", "m", {"name": "x"}, {0: kept}, "it", cost, seconds, boxes)


def test_diagnostics_are_stored_and_saved_with_the_run(tmp_path):
    features, kept = clip()
    run = a_run(kept)
    assert metrics.diagnostics_of(run) is None
    found = metrics.diagnose(features, kept)
    told = metrics.with_diagnostics(run, found)
    again = metrics.diagnostics_of(Run.load(told.save(tmp_path)))
    assert again is not None
    for name, value in found.summary().items():
        np.testing.assert_equal(again.summary()[name], value)
    # with_diagnostics() returns a copy: the argument is unchanged
    assert metrics.diagnostics_of(run) is None


def test_rank_relative_to_random_is_above_1_for_diverse_and_below_1_for_narrow_selections():
    """All units have the same 16 feature directions: one selection keeps all, the other only 4."""
    directions = torch.eye(16).repeat(4, 1)
    narrow = (torch.arange(4)[:, None] * 16 + torch.arange(4)).flatten()
    for keep, wide in ((torch.arange(16), True), (narrow, False)):
        record = Compression.pruned(keep, (4, 4, 4))
        found = metrics.diagnose(directions, record)
        assert (found.rank_vs_random > 1) is wide
        assert (found.coverage_vs_random < 1) is wide
