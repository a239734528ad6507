from gleanvid.compressors.vcast import VCast
from gleanvid.types import VideoTokens
from tests.parity.checksums import features, grid


def test_vcast_matches_its_authors_code(vcast):
    config = vcast["config"]
    method = VCast(vcast["retention"], config["temperature"], config["skip_single_frame"], False)
    record = method.compress(VideoTokens(features(vcast), grid(vcast)))
    assert record.keep.tolist() == vcast["kept"]
    assert record.budgets.tolist() == vcast["frame_budgets"]
    assert record.num_kept == vcast["n_kept"]
