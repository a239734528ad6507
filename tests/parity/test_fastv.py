from gleanvid.compressors.fastv import FastV
from gleanvid.types import VideoTokens
from tests.parity.checksums import assert_checksum, attention_rows_of, between_text, features, grid


def test_fastv_matches_its_authors_code(fastv):
    visual, config = features(fastv), fastv["config"]
    attention = attention_rows_of(fastv, len(visual))
    tokens = VideoTokens(visual, grid(fastv), attention=attention)
    record = FastV(fastv["retention"], exact=False).compress(tokens)
    assert record.keep.tolist() == fastv["kept"]
    text = config["text_before"] + config["text_after"]
    assert record.num_kept + text == fastv["position_ids_kept"]
    assert_checksum(between_text(fastv, record.apply(visual)), fastv["merged_checksum"])
