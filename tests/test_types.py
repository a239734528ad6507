import numpy as np
import pytest
import torch

import gleanvid
from gleanvid.models.frames import frame_metadata
from gleanvid.types import Compression, Video, VideoTokens

GRID = (2, 2, 2)


def test_applying_a_pruning_record_selects_rows_by_index():
    rows = torch.randn(8, 3)
    record = Compression.pruned(torch.tensor([1, 4, 7]), GRID)
    assert torch.equal(record.apply(rows), rows[[1, 4, 7]])
    assert record.budgets.tolist() == [1, 2] and not record.merges
    assert record.mask.nonzero().flatten().tolist() == [1, 4, 7]


def merge():
    group = torch.tensor([0, 0, -1, 1, 1, 1, -1, 2])
    weight = torch.tensor([0.25, 0.75, 0, 0.5, 0.25, 0.25, 0, 1.0])
    return Compression(torch.tensor([0, 3, 7]), GRID, group, weight)


def test_applying_a_merging_record_gives_the_weighted_sum_of_each_group():
    rows = torch.randn(8, 3)
    out = merge().apply(rows)
    assert merge().merges
    assert torch.allclose(out[0], 0.25 * rows[0] + 0.75 * rows[1])
    assert torch.allclose(out[1], 0.5 * rows[3] + 0.25 * rows[4] + 0.25 * rows[5])
    assert torch.equal(out[2], rows[7])


def test_composed_records_equal_applying_them_in_sequence():
    rows = torch.randn(8, 3)
    later = Compression.pruned(torch.tensor([1, 2]), (1, 1, 3))
    both = merge().then(later)
    assert torch.allclose(both.apply(rows), later.apply(merge().apply(rows)))
    assert both.keep.tolist() == [3, 7]


def test_one_token_can_contribute_to_two_merged_tokens():
    mixing = torch.tensor([[0.5, 0.5, 0.0], [0.0, 0.5, 0.5]]).to_sparse_coo()
    record = Compression(
        torch.tensor([0, 2]),
        (1, 1, 3),
        torch.tensor([0, 0, 1]),
        torch.full((3,), 0.5),
        mixing=mixing,
    )
    rows = torch.randn(3, 4)
    assert torch.allclose(record.apply(rows), mixing.to_dense() @ rows)
    last = Compression.pruned(torch.tensor([1]), (1, 1, 2))
    assert torch.allclose(record.then(last).apply(rows)[0], record.apply(rows)[1])


def test_applying_a_record_does_not_change_the_dtype_of_half_precision_rows():
    assert merge().apply(torch.randn(8, 3).bfloat16()).dtype == torch.bfloat16


def test_applying_a_record_to_a_wrong_number_of_rows_is_refused():
    with pytest.raises(ValueError, match="expected 8 rows, got 7"):
        merge().apply(torch.randn(7, 3))
    with pytest.raises(ValueError, match="covers 8 rows, not 3"):
        merge().then(merge())


@pytest.mark.parametrize(
    ("features", "grid", "message"),
    [
        (torch.zeros(7, 4), GRID, "features must be"),
        (torch.zeros(8), GRID, "features must be"),
        (torch.zeros(8, 4), (2, 0, 4), "grid must be"),
        (torch.zeros(8, 4, dtype=torch.long), GRID, "wider"),
        (torch.zeros(8, 0), GRID, "at least one channel"),
    ],
)
def test_video_tokens_with_mismatched_shapes_are_refused(features, grid, message):
    with pytest.raises(ValueError, match=message):
        VideoTokens(features, grid)


def test_video_from_frames_takes_uint8_and_derives_times_from_fps():
    video = Video.from_frames(np.zeros((4, 6, 8, 3), np.uint8), fps=2.0)
    assert len(video) == 4 and video.timestamps.tolist() == [0, 0.5, 1, 1.5]
    with pytest.raises(ValueError, match="uint8"):
        Video.from_frames(np.zeros((4, 6, 8, 3), np.float32), fps=2.0)


def test_video_from_frames_keeps_the_times_that_it_is_given():
    frames = np.zeros((4, 6, 8, 3), np.uint8)
    video = Video.from_frames(frames, timestamps=[1, 2, 4, 7])
    assert video.timestamps.tolist() == [1, 2, 4, 7] == frame_metadata(video).timestamps
    assert (video.fps, video.duration) == (0.5, 9.0)
    single = Video.from_frames(frames[:1])  # has no times to get wrong
    assert single.timestamps.tolist() == [0]


@pytest.mark.parametrize(
    ("times", "message"),
    [
        ({}, r"no times of their own: .*fps=\.\.\."),
        ({"fps": 2.0, "timestamps": [0, 1, 2, 3]}, "not both"),
        ({"fps": 0.0}, "fps=0.0 must be above 0"),
        ({"fps": float("inf")}, "fps=inf must be above 0"),
        ({"timestamps": [0, 1]}, "timestamps must be 4 seconds"),
        ({"timestamps": [0, 2, 1, 3]}, "ascending"),
        ({"timestamps": [-1, 0, 1, 2]}, "from 0 or later"),
        ({"timestamps": [0, 1, 2, float("nan")]}, "timestamps must be"),
    ],
)
def test_frames_without_sound_times_are_refused(times, message):
    with pytest.raises(ValueError, match=message):
        Video.from_frames(np.zeros((4, 6, 8, 3), np.uint8), **times)


def test_questions_about_frames_without_times_are_refused_before_a_model_is_loaded():
    with pytest.raises(ValueError, match="no times of their own"):
        gleanvid.ask(np.zeros((4, 6, 8, 3), np.uint8), "What?", "no such model")
