import numpy as np
import pytest
import torch

from gleanvid import metrics
from gleanvid.run import Cost, Run
from gleanvid.types import Video
from tests.metrics.cases import clip


def a_run(kept):
    units = kept.grid[0]
    video = Video.from_frames(np.zeros((units, 8, 8, 3), np.uint8))
    cost = Cost(120, kept.num_kept, 130, 40, 0.1, 0.1, 0.1, 0.1, 0.1, 3, 100.0, 1.0, 2.0)
    seconds, boxes = torch.zeros(units, 2), torch.zeros(20, 4)
    return Run(video, "what?", "m", {"name": "x"}, {0: kept}, "it", cost, seconds, boxes)


def test_every_number_is_that_of_its_function():
    features, kept = clip()
    found = metrics.diagnose(features, kept)
    for name in ("residual_energy", "coverage_error", "energy_outside_span"):
        assert getattr(found, name) == pytest.approx(getattr(metrics, name)(features, kept))
    assert found.effective_rank == metrics.effective_dimension(features, kept)
    by_unit = metrics.effective_rank_by_unit(features, kept)
    assert found.effective_rank_by_unit.tolist() == by_unit.tolist()
    assert found.basis_rank.tolist() == metrics.basis_rank(features, kept).tolist()


def test_kept_with_a_run_and_saved_along_with_it(tmp_path):
    features, kept = clip()
    run = a_run(kept)
    assert metrics.diagnostics_of(run) is None
    found = metrics.diagnose(features, kept)
    told = metrics.with_diagnostics(run, found)
    again = metrics.diagnostics_of(Run.load(told.save(tmp_path)))
    assert again is not None
    for name, value in found.summary().items():
        np.testing.assert_equal(again.summary()[name], value)
    assert metrics.diagnostics_of(run) is None  # the run itself is untouched


def test_memory_stays_within_the_features():
    """No [T*N, T*N] matrix: twenty times as many tokens, and the span stays [D, D]."""
    features, kept = clip(units=40, rows=10, columns=10, width=16)
    span = metrics.kept_span(features, kept)
    assert span.directions.shape == (16, 16)
    assert span.rank[-1] == 16
