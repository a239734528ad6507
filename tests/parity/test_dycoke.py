from gleanvid.compressors.dycoke import DyCoke
from gleanvid.types import VideoTokens
from tests.parity.checksums import assert_checksum, features, grid, in_order


def test_dycoke_matches_its_authors_code(dycoke):
    """Compare the temporal stage; the authors' code raises an error for clips of up to 4 units."""
    visual, per_unit = features(dycoke), dycoke["height"] * dycoke["width"]
    share = dycoke["config"]["dycoke_k"]
    method = DyCoke(dycoke["retention"], drop_share=share, exact=False)
    record = method.compress(VideoTokens(visual, grid(dycoke)))
    if "error" in dycoke:
        pruned = int((1 - share) * per_unit)
        assert dycoke["kept"] is None
        assert record.budgets.tolist() == [per_unit, pruned][: dycoke["frames"]]
        return
    assert record.keep.tolist() == dycoke["kept"]
    assert record.budgets.tolist() == dycoke["frame_budgets"]
    assert_checksum(
        in_order(record, record.apply(visual), dycoke["output_order"]), dycoke["merged_checksum"]
    )
