import torch

from gleanvid.compressors.visionzip import VisionZip
from gleanvid.types import VideoTokens
from tests.golden.inputs import video_features
from tests.parity.checksums import assert_checksum, features, grid, in_order, rows

VARIANTS = {"no_cls": "frame", "cls_official": "cls", "vidcom2_repo_qwen3vl_port": "qwen3_port"}


def check(case):
    units, height, width = grid(case)
    seed, per_unit, visual = case["seed"], height * width, features(case)
    variant = VARIANTS[case["config"]["variant"]]
    saliency = rows(seed, units, per_unit)
    if variant == "cls":  # the authors' code sums the attention of the [CLS] token over the heads
        heads = case["config"]["heads"]
        saliency = rows(seed + 800, units * heads, 1 + per_unit)
        saliency = saliency.view(units, heads, -1)[:, :, 1:].sum(dim=1)
    keys = torch.from_numpy(video_features(seed + 100, units, height, width, 16)).flatten(0, 1)
    tokens = VideoTokens(visual, grid(case), saliency=saliency.flatten(), keys=keys)
    method = VisionZip(case["retention"], variant=variant, exact=False)
    record = method.compress(tokens)
    cls_rows = 1 if variant == "cls" else 0
    assert record.keep.tolist() == case["kept"]
    assert (record.budgets + cls_rows).tolist() == case["frame_budgets"]
    out = in_order(record, record.apply(visual), case["output_order"])
    if cls_rows:
        hidden = rows(seed + 600, units, case["dim"])
        parts = out.split(record.budgets.tolist())
        pairs = zip(hidden, parts, strict=True)
        out = torch.cat([torch.cat([cls[None], part]) for cls, part in pairs])
    assert_checksum(out, case["merged_checksum"])


def test_visionzip_matches_its_authors_code(visionzip):
    check(visionzip)


def test_visionzip_matches_the_published_qwen3_vl_port(visionzip_qwen3_port):
    check(visionzip_qwen3_port)
