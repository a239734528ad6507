import pytest
import torch

from gleanvid.compressors.holitom import HoliTom, HoliTomMerge
from gleanvid.types import VideoTokens
from tests.parity.checksums import (
    assert_checksum,
    attention_rows_of,
    between_text,
    features,
    grid,
    in_order,
    rows,
)


def test_holitom_matches_its_authors_code(holitom):
    inner(holitom) if "stage" in holitom["config"] else outer(holitom)


def outer(case):
    units, height, width = grid(case)
    config, visual = case["config"], features(case)
    if config.get("still"):
        visual = visual[: height * width].repeat(units, 1)
    saliency = rows(case["seed"], units, height * width).flatten()
    method = HoliTom(case["retention"], tau=config["tau"], beta=config["beta"], exact=False)
    record = method.compress(VideoTokens(visual, grid(case), saliency=saliency))
    assert record.keep.tolist() == case["kept"]
    start = record.trace["window"].tolist()
    windows = [[first, units - 1 - start[::-1].index(first)] for first in sorted(set(start))]
    assert windows == case["windows"]
    ratio = float(record.trace["effective_ratio"])
    assert ratio == pytest.approx(case["effective_retention"], rel=1e-6)
    if case["frame_budgets"] is not None:
        assert record.budgets.tolist() == case["frame_budgets"]
    out = record.apply(visual)
    if config["newline"] == "grid":
        newline = rows(case["seed"] + 500, 1, case["dim"])
        out = with_newlines(out, record.keep // width, newline)
        assert len(out) - record.num_kept == case["newline_rows"]
    else:
        out = in_order(record, out, case["output_order"])
    assert_checksum(out, case["merged_checksum"])


def with_newlines(out, grid_row, newline):
    sizes = torch.unique_consecutive(grid_row, return_counts=True)[1].tolist()
    return torch.cat([torch.cat([part, newline]) for part in out.split(sizes)])


def inner(case):
    visual = features(case)
    tokens = VideoTokens(visual, grid(case), attention=attention_rows_of(case, len(visual)))
    record = HoliTomMerge(share=1 - case["config"]["r"], exact=False).compress(tokens)
    assert record.keep.tolist() == case["kept"]
    assert_checksum(between_text(case, record.apply(visual)), case["merged_checksum"])
