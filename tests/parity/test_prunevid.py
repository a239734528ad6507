import torch

from gleanvid.compressors.prunevid import PruneVid, PruneVidSelection
from gleanvid.types import VideoTokens
from tests.parity.checksums import assert_checksum, features, grid, rows


def test_prunevid_matches_its_authors_code(prunevid):
    """Clusters are compared without their order: the authors' code sorts them by score.

    Clusters with equal scores may therefore swap. With fewer than 7 units, the authors' code
    raises, and ours has fewer output tokens, one per cluster.
    """
    visual, config = features(prunevid), prunevid["config"]
    method = PruneVid(tau=config["tau"], cluster_ratio=config["cluster_ratio"], exact=False)
    record = method.compress(VideoTokens(visual, grid(prunevid)))
    if "error" in prunevid:
        assert prunevid["kept"] is None
        assert 0 < record.num_kept < len(visual)
        return
    order = prunevid["output_order"]
    assert record.keep.tolist() == sorted(order)
    windows = torch.unique_consecutive(record.trace["window"], return_counts=True)[1]
    assert windows.tolist() == prunevid["windows"]
    assert static_sizes(record) == prunevid["static_sizes"]
    assert_checksum(record.apply(visual), prunevid["merged_checksum"], first=False)
    if config["alpha"] == 1.0:
        assert record.keep.tolist() == prunevid["kept"]
        return
    chosen = select(record, record.apply(visual), prunevid)
    assert record.then(chosen).keep.tolist() == prunevid["kept"]
    place = torch.argsort(
        torch.tensor(order)
    ).tolist()  # position of each of our output tokens among the authors'
    assert sorted(place[row] for row in chosen.keep.tolist()) == prunevid["stage2_rows_kept"]


def static_sizes(record):
    """Return for each window of units how many kept tokens stand for its static positions."""
    per_unit = record.grid[1] * record.grid[2]
    static = record.scores["static"][record.keep]
    window = record.trace["window"][record.keep // per_unit]
    return [int((static & (window == first)).sum()) for first in window.unique()]


def select(record, hidden, case):
    config, order = case["config"], torch.tensor(case["output_order"])
    heads, queries = config["heads"], config["queries"]
    attention = rows(case["seed"] + 2000, heads * queries, len(order)).view(heads, queries, -1)
    tokens = VideoTokens(
        hidden,
        record.grid,
        positions=record.keep,
        attention=attention[..., torch.argsort(order)],
        previous=record,
    )
    return PruneVidSelection(share=config["alpha"], exact=False).compress(tokens)
