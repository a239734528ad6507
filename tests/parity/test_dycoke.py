import pytest
import torch

from gleanvid.compressors.dycoke import DyCoke, DyCokeDecoding
from gleanvid.types import VideoTokens
from tests.parity.checksums import assert_checksum, features, grid, in_order, rows


def test_dycoke_matches_its_authors_code(dycoke):
    stage = {"prefill_ttm": temporal, "decode_dp": decoding}
    stage[dycoke["config"]["stage"]](dycoke)


def temporal(case):
    """Compare the temporal stage; the authors' code raises an error for clips of up to 4 units."""
    visual, per_unit = features(case), case["height"] * case["width"]
    share = case["config"]["dycoke_k"]
    method = DyCoke(case["retention"], drop_share=share, exact=False)
    record = method.compress(VideoTokens(visual, grid(case)))
    if "error" in case:
        pruned = int((1 - share) * per_unit)
        assert case["kept"] is None
        assert record.budgets.tolist() == [per_unit, pruned][: case["frames"]]
        return
    assert record.keep.tolist() == case["kept"]
    assert record.budgets.tolist() == case["frame_budgets"]
    assert_checksum(
        in_order(record, record.apply(visual), case["output_order"]), case["merged_checksum"]
    )


def decoding(case):
    config, previous = case["config"], None
    start, length, prompt = (
        config[key] for key in ("image_start", "image_length", "prompt_length")
    )
    method = DyCokeDecoding(1.0 - config["dycoke_p"], exact=False)
    for step in case["steps"]:
        attention = rows(step["attention_seed"], config["heads"], prompt)
        tokens = VideoTokens(
            torch.ones(length, 1),
            (1, 1, length),
            attention=attention[:, None, start : start + length],
            previous=previous,
        )
        record = method.compress(tokens)
        # None: the authors' code prunes nothing, as the query hardly differs from the one before
        if step["kept_image"] is None:
            assert record.num_kept == length
        else:
            assert record.keep.tolist() == step["kept_image"]
        assert float(record.trace["similarity"]) == pytest.approx(step["similarity"], abs=1e-5)
        previous = record
