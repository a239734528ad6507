"""V-CAST against its authors' code, single units skipped and not."""

from gleanvid.compressors.vcast import VCast
from gleanvid.types import VideoTokens
from tests.parity.checksums import features, grid


def test_matches_original(vcast):
    config = vcast["config"]
    method = VCast(vcast["retention"], config["temperature"], config["skip_single_frame"], False)
    record = method.compress(VideoTokens(features(vcast), grid(vcast)))
    assert record.keep.tolist() == vcast["kept"]
    assert record.budgets.tolist() == vcast["frame_budgets"]
    assert record.num_kept == vcast["n_kept"]
