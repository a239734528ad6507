import torch

from gleanvid.compressors.fastvid import FastVID
from gleanvid.types import VideoTokens
from tests.parity.checksums import assert_checksum, features, grid, rows

VARIANTS = {
    "llava_ov": "llava_onevision",
    "llava_video": "llava_video",
    "qwen25": "qwen2_5_vl",
    "qwen3_vidcom2": "qwen3_vl",
}


def test_fastvid_matches_its_authors_code(fastvid):
    config, (units, height, width) = fastvid["config"], grid(fastvid)
    visual = features(fastvid)
    saliency = rows(1000 + fastvid["seed"], units, height * width).flatten()
    method = FastVID(
        fastvid["retention"],
        variant=VARIANTS[config["variant"]],
        min_segments=config["c"],
        tau=config["tau"],
        context_share=config["d"],
        anchor_step=config["p"],
        beta=config["beta"],
        ignore=config.get("ignore"),
        exact=False,
    )
    published = FastVID(fastvid["retention"], method.variant, exact=False)
    tokens = VideoTokens(visual, grid(fastvid), saliency=saliency)
    record = method.compress(tokens)
    assert record.keep.tolist() == fastvid["kept"]
    assert torch.equal(published.compress(tokens).keep, record.keep)
    assert record.num_kept == fastvid["n_kept"] == fastvid["n_unique"]
    if "frame_budgets" in fastvid:
        assert record.budgets.tolist() == fastvid["frame_budgets"]
    starts = record.trace["segment"].unique(return_counts=True)[1]
    assert starts.tolist() == fastvid["segments"]
    if "newline_rows" in fastvid:  # newlines: kept if a token of their row is
        assert (record.keep // width).unique().tolist() == fastvid["newline_rows"]
    assert_checksum(record.apply(visual), fastvid["merged_checksum"])
