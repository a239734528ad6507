import torch

from gleanvid.compressors.gleanvid.cells import Cells


def test_cells_tile_a_grid_from_the_top_left_and_are_smaller_at_the_edges():
    cells = Cells(3, 5, 2, torch.device("cpu"))
    assert cells.of_position.view(3, 5).tolist() == [
        [0, 0, 1, 1, 2],
        [0, 0, 1, 1, 2],
        [3, 3, 4, 4, 5],
    ]
    assert cells.sizes.tolist() == [4, 4, 2, 2, 2, 1]


def test_means_are_taken_per_cell_and_per_unit():
    features = torch.arange(30, dtype=torch.float32).view(2, 15, 1)
    means = Cells(3, 5, 2, torch.device("cpu")).means_and_whole(features)[:, :-1, 0]
    assert means[0].tolist() == [3, 5, 6.5, 10.5, 12.5, 14]
    assert torch.equal(means[1], means[0] + 15)


def test_mean_over_a_cell_of_side_1_is_the_token_itself():
    features = torch.randn(1, 6, 4)
    assert torch.equal(
        Cells(2, 3, 1, torch.device("cpu")).means_and_whole(features)[:, :-1], features
    )
