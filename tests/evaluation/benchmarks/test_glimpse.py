from collections import Counter

import numpy as np
import pytest
import torch

from gleanvid.evaluation.benchmarks import BenchmarkError, open_benchmark
from gleanvid.glimpse.questions.clips import make_video
from gleanvid.glimpse.questions.questions import FAMILIES
from gleanvid.glimpse.world.world import ClipSettings
from gleanvid.types import VideoError, VideoTokens

SHORT = open_benchmark("glimpse", clip_frames=16)


@pytest.fixture(scope="module")
def items():
    return SHORT.items(160)


def test_limit_takes_the_first_questions_and_other_seeds_or_splits_give_other_questions(items):
    assert SHORT.items(60) == items[:60]
    assert SHORT.items(8, seed=1) != items[:8]
    other = open_benchmark("glimpse", clip_frames=16, split="validation")
    assert other.items(8) != items[:8]


def test_glimpse_questions_have_unique_ids_and_four_options(items):
    assert len({item.id for item in items}) == len(items) == 160
    assert max(Counter(item.clip for item in items).values()) <= 4
    clips = [item.clip for item in items]
    assert sorted(set(clips), key=clips.index) == list(dict.fromkeys(clips))
    for item in items:
        assert len(set(item.options)) == 4 and item.groups[0] in FAMILIES


def test_families_option_restricts_questions_to_the_named_types():
    chosen = open_benchmark("glimpse", clip_frames=16, families=("flash", "cut"))
    assert {item.groups[0] for item in chosen.items(12)} == {"flash", "cut"}


def test_question_type_impossible_in_short_clips_is_refused():
    with pytest.raises(BenchmarkError, match="clips of 16 frames have no questions of repeats"):
        open_benchmark("glimpse", clip_frames=16, families=("repeats",)).items(4)


def test_benchmark_clip_equals_the_generated_clip_or_is_a_subset_of_its_frames(items):
    clip = items[0].clip
    whole = make_video(0, "test", 0, ClipSettings(num_frames=16))
    assert np.array_equal(SHORT.video(clip, 16).frames, whole.frames)
    few = SHORT.video(clip, 6)
    assert few.indices.tolist() == [1, 4, 6, 9, 12, 14]
    assert np.array_equal(few.frames, whole.frames[few.indices])
    with pytest.raises(VideoError, match="num_frames=18 is more than the clip's 16 frames"):
        SHORT.video(clip, 18)


def test_blind_option_asks_the_same_questions_about_grey_frames(items):
    blind = open_benchmark("glimpse", clip_frames=16, blind=True)
    assert blind.items(8) == items[:8]
    assert (blind.video(items[0].clip, 16).frames == 128).all()


def test_generated_clips_are_long_enough_for_the_largest_number_of_frames():
    free = open_benchmark("glimpse")
    assert free.for_frames(60).clip_frames == 60
    assert SHORT.for_frames(8).clip_frames == 16
    with pytest.raises(BenchmarkError, match="num_frames=60 must be at most clip_frames=16"):
        SHORT.for_frames(60)


def test_evidence_mask_covers_only_objects_in_the_question_while_they_are_shown(items):
    tokens = VideoTokens(torch.zeros(8 * 100, 4), (8, 10, 10))
    shown = [SHORT.evidence(item, tokens) for item in items[:24]]
    assert all(mask.shape[1:] == (800,) and mask.dtype == torch.bool for mask in shown)
    # a mask has the shape [objects that the question asks about, tokens]
    assert {len(mask) for mask in shown} >= {1, 2}
    assert all(0 < mask.any(0).float().mean() < 0.5 for mask in shown)
    flash = next(item for item in items if item.groups == ("flash",))
    units = SHORT.evidence(flash, tokens).view(8, -1).any(1)
    assert units.sum() <= 2  # the flash lasts one or two temporal units


@pytest.mark.parametrize(
    ("said", "right"), [("Red", True), (" red. ", True), ("blue", False), ("", False)]
)
def test_open_ended_answer_is_compared_word_by_word(items, said, right):
    item = next(item for item in items if item.right_option == "red")
    assert SHORT.right(item, said) is right


@pytest.mark.parametrize(
    ("settings", "named"),
    [
        ({"split": "tests"}, "split='tests' must be one of train, validation, test"),
        ({"families": ("colours",)}, "family='colours' must be one of colour, shape"),
        ({"clip_frames": 65}, "clip_frames=65 must be an even number from 2 to 64"),
        ({"folder": "x"}, "benchmark glimpse has no setting folder; its settings are split"),
    ],
)
def test_error_names_the_invalid_glimpse_setting(settings, named):
    with pytest.raises(BenchmarkError, match=named):
        open_benchmark("glimpse", **settings)
