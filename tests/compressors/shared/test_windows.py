import pytest
import torch

from gleanvid.compressors.shared.windows import Windows, exact_counts, with_singles

START = torch.tensor([0, 0, 0, 3, 4, 4])
STATIC = torch.tensor([[1, 0, 1]] * 3 + [[0, 0, 0]] + [[0, 1, 0]] * 2, dtype=torch.bool)
WINDOWS = Windows(START, STATIC)


def test_window_sizes_count_the_averages_of_each_window_and_the_single_tokens_of_each_unit():
    assert WINDOWS.sizes.tolist() == [[2, 0, 0, 0, 1, 0], [1, 1, 1, 3, 2, 2]]
    assert WINDOWS.firsts == [0, 3, 4]
    assert WINDOWS.span(0) == slice(0, 3)
    assert int(WINDOWS.sizes.sum()) + int(WINDOWS.repeated.sum()) == STATIC.numel()


@pytest.mark.parametrize("total", range(13, 19))
def test_single_tokens_fill_the_budget_that_windows_leave_and_a_budget_of_all_tokens_keeps_all(
    total,
):
    score = torch.arange(18.0).view(6, 3)
    home, weight = with_singles(WINDOWS, score, total)
    assert len(home.unique()) == total
    sums = torch.zeros(18).index_add_(0, home, weight)
    torch.testing.assert_close(sums[home.unique()], torch.ones(total))
    if total == 18:
        assert torch.equal(home, torch.arange(18)) and (weight == 1).all()
    if total == 14:
        # the repeated token with the highest score is the first that is kept as a single token
        assert home[16] == 16


@pytest.mark.parametrize("total", range(1, 14))
def test_counts_per_window_sum_to_the_total_and_do_not_exceed_window_sizes(total):
    counts = exact_counts(WINDOWS.sizes, total)
    assert int(counts.sum()) == total
    assert (counts <= WINDOWS.sizes).all()
