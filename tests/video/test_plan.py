import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gleanvid.video import plan as plans
from gleanvid.video.plan import Request, UnreadableVideoError, fit, make_plan, uniform_indices


@given(st.integers(1, 100_000), st.integers(1, 300))
def test_sampled_frame_indices_are_even_ascending_and_include_both_ends(total, num_frames):
    rows = uniform_indices(total, num_frames)
    assert len(rows) == min(total, num_frames)
    assert rows[0] == 0
    assert rows[-1] == (total - 1 if len(rows) > 1 else 0)
    steps = np.diff(rows)
    assert (steps >= 1).all()
    assert not len(steps) or steps.max() - steps.min() <= 1


def test_sampled_frame_indices_round_halves_to_even_as_in_qwen_vl_utils():
    torch = pytest.importorskip("torch")
    for total, count in ((6, 3), (300, 32), (18_000, 64), (14_315, 32)):
        theirs = torch.linspace(0, total - 1, count).round().long().tolist()
        assert uniform_indices(total, count).tolist() == theirs


@given(st.integers(1, 9000), st.integers(1, 9000), st.integers(1, 5000))
def test_fitting_a_frame_into_max_side_keeps_its_aspect_ratio_and_never_enlarges(
    height, width, max_side
):
    scaled = fit((height, width), max_side)
    assert max(scaled) == min(max(height, width), max_side)
    exact = height * min(1, max_side / max(height, width))
    assert scaled[0] == max(1, round(exact))
    assert fit((height, width), None) == (height, width)


def request(num_frames=4):
    return Request("/clip.mp4", "clip.mp4", "mov", num_frames, "pyav")


def test_sampling_plan_counts_time_from_the_first_frame_at_the_mean_frame_rate():
    seconds = np.array([7.0, 7.1, 7.4, 8.0, 8.5, 9.0])
    plan, rows = make_plan(request(3), seconds, (90, 160))
    assert plan.indices == rows.tolist() == [0, 2, 5]
    assert plan.timestamps == pytest.approx([0.0, 0.4, 2.0])
    assert plan.fps == pytest.approx(2.5)
    assert plan.duration == pytest.approx(2.4)
    assert plan.notes == ()


def test_sampling_frames_that_would_fill_the_memory_is_refused(monkeypatch):
    seconds = np.arange(10.0)
    monkeypatch.setattr(plans, "MAX_RESULT_BYTES", 4 * 90 * 160 * 3 - 1)
    with pytest.raises(UnreadableVideoError, match="fewer frames or set max_side"):
        make_plan(request(), seconds, (90, 160))
