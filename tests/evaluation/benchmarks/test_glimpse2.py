import numpy as np
import pytest

from gleanvid.evaluation.benchmarks import BenchmarkError, open_benchmark

SHORT = open_benchmark("glimpse2", clip_frames=20)


@pytest.fixture(scope="module")
def items():
    return SHORT.items(60)


def pairs(benchmark, clip):
    frames = benchmark.video(clip, 20).frames
    return frames.reshape(10, -1)


def test_glimpse2_has_its_own_questions_and_each_type_at_most_once_per_clip(items):
    assert SHORT.settings()["benchmark"] == "glimpse2"
    assert items != open_benchmark("glimpse", clip_frames=20).items(60)
    asked = [(item.clip, item.groups) for item in items]
    assert len(set(asked)) == len(asked)
    assert len({item.groups[0] for item in items}) > 15
    assert SHORT.items(20) == items[:20]


def test_still_view_repeats_a_single_unit_of_the_clip(items):
    clip, still = items[0].clip, open_benchmark("glimpse2", clip_frames=20, view="still", moment=1)
    whole, shown = pairs(SHORT, clip), pairs(still, clip)
    assert still.items(8) == items[:8]
    assert all(np.array_equal(pair, whole[9]) for pair in shown)


def test_shuffled_view_shows_the_same_units_in_another_order(items):
    clip, mixed = items[0].clip, open_benchmark("glimpse2", clip_frames=20, view="shuffled")
    whole, shown = pairs(SHORT, clip), pairs(mixed, clip)
    assert not np.array_equal(whole, shown)
    assert sorted(map(bytes, whole)) == sorted(map(bytes, shown))
    assert np.array_equal(shown, pairs(mixed, clip))
    assert mixed.video(clip, 20).timestamps.tolist() == SHORT.video(clip, 20).timestamps.tolist()


@pytest.mark.parametrize(
    ("settings", "named"),
    [
        ({"view": "sideways"}, "view='sideways' must be one of all, still, shuffled"),
        ({"moment": 2.0}, "moment=2.0 must be from 0 to 1"),
        ({"families": ("turns",)}, "family='turns' must be one of colour, shape"),
        ({"clip_frames": 130}, "clip_frames=130 must be an even number from 2 to 128"),
    ],
)
def test_error_names_the_invalid_glimpse2_setting(settings, named):
    with pytest.raises(BenchmarkError, match=named):
        open_benchmark("glimpse2", **settings)
