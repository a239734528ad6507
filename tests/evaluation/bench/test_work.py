import json

import pytest
import torch

from gleanvid.cli import main
from gleanvid.compressors.gleanvid import GleanVID
from gleanvid.evaluation.bench.bench_compress import made_up_tokens
from gleanvid.evaluation.bench.work import count, count_all


def test_kernel_count_ignores_views_and_operations_on_the_host():
    x = torch.randn(4, 6)

    def call():
        product = x @ x.T  # .T is a view, so it launches no kernel
        host = product.cpu()
        return host.sum() + host.max(), bool(product[0, 0] > 0)

    work = count(call)
    assert work.by_name == {"aten::mm": 1, "aten::gt.Scalar": 1}
    assert (work.kernels, work.read_backs) == (2, 2)
    assert work.bytes_moved == 4 * (24 + 24 + 16) + 4 + 1


@pytest.mark.parametrize(
    ("call", "syncs"),
    [
        (lambda x: x.tolist(), 1),
        (lambda x: x[x > 0], 1),
        (lambda x: x.nonzero(), 1),
        (lambda x: x.to("cpu").tolist(), 1),
        (lambda x: float(x.sum()), 1),
        (lambda x: torch.where(x > 0, x, 0.0), 0),
    ],
)
def test_reading_a_value_from_the_device_counts_as_one_device_to_host_sync(call, syncs):
    x = torch.randn(5)
    assert count(lambda: call(x)).read_backs == syncs


def test_gleanvid_launches_few_kernels_and_no_large_factorization():
    (row,) = count_all([GleanVID()], made_up_tokens((32, 14, 14), 3584, "cpu"))["rows"]
    assert row["kernels"] <= 1100 and row["read_backs"] <= 8
    assert not {"aten::linalg_qr", "aten::_linalg_eigh", "aten::_linalg_svd"} & set(row["by_name"])


def test_bench_compress_counts_kernels_of_the_listed_compressors(capsys):
    words = ["bench", "compress", "--count", "--grid", "4x4x4", "--width", "64"]
    assert main([*words, "--compressor", "gleanvid,uniform", "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert [row["compressor"] for row in report["rows"]] == ["gleanvid", "uniform"]
    assert main(words) == 0
    assert "| `gleanvid` |" in capsys.readouterr().out
