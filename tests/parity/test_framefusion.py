import pytest
import torch

from gleanvid.compressors.framefusion import FrameFusion
from gleanvid.types import VideoTokens
from tests.compressors.identity_layers import pass_through
from tests.parity.checksums import assert_checksum, between_text, features, grid, rows


def test_framefusion_matches_its_authors_code(framefusion):
    case, config = framefusion, framefusion["config"]
    units, height, width = grid(case)
    visual = features(case)
    # newline tokens form one more column and are merged like patches
    if config["newline"] == "grid":
        newline = rows(case["seed"] + 500, 1, case["dim"]).expand(units * height, 1, -1)
        visual = torch.cat([visual.view(units * height, width, -1), newline], dim=1).flatten(0, 1)
        width += 1
    before, count = config["text_before"], config["text_before"] + config["text_after"]
    heads, queries = config["heads"], config["query_rows"]

    def attention(_stage, left, _previous):
        made = rows(case["seed"] + 2000, heads * queries, count + len(left))
        return made.view(heads, queries, -1)[..., before : before + len(left)]

    method = FrameFusion(
        config["cost"],
        similarity_bound=config["similarity_lower_bound"],
        ratio_bound=config["ratio_lower_bound"],
        query_rows=queries,
        num_layers=config["num_layers"],
        exact=False,
    )
    tokens = VideoTokens(visual, (units, height, width))
    result = pass_through(method, tokens, config["num_layers"], attention)
    assert result.record.keep.tolist() == case["kept"]
    assert result.rows_per_layer == case["visual_tokens_per_layer"]
    assert result.average == pytest.approx(case["mean_retention"], rel=1e-9)
    ratios = result.by_layer[config["num_layers"] - 1].state["merge_ratios"].tolist()
    assert ratios == pytest.approx(case["sparsity_list"], rel=1e-9)
    # output tokens of the stages one after the other, and of their composed compression record
    for out in (result.hidden, result.record.apply(visual)):
        assert_checksum(between_text(case, out), case["merged_checksum"])
