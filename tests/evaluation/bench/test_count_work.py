"""What is counted, and that GleanVID asks a device for no more than it may."""

import json
import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
import torch
from torch.autograd import DeviceType

from gleanvid.cli import main
from gleanvid.compressors.gleanvid import GleanVID
from gleanvid.evaluation.bench.bench_compress import made_up_tokens
from gleanvid.evaluation.bench.count_work import count_all, table
from gleanvid.evaluation.bench.device_time import kernel_seconds
from gleanvid.evaluation.bench.work import count

ROOT = Path(__file__).parents[3]


def test_views_cost_nothing_and_values_read_back_are_worked_on_by_the_host():
    x = torch.randn(4, 6)

    def work():
        product = x @ x.T  # .T is a view
        host = product.cpu()
        return host.sum() + host.max(), bool(product[0, 0] > 0)

    found = count(work)
    assert found.by_name == {"aten::mm": 1, "aten::gt.Scalar": 1}
    assert (found.kernels, found.read_backs, found.host_operations) == (2, 2, 3)
    assert found.bytes_moved == 4 * (24 + 24 + 16) + 4 + 1


@pytest.mark.parametrize(
    ("call", "reads"),
    [
        (lambda x: x.tolist(), 1),
        (lambda x: x[x > 0], 1),
        (lambda x: x.nonzero(), 1),
        (lambda x: x.to("cpu").tolist(), 1),
        (lambda x: float(x.sum()), 1),
        (lambda x: torch.where(x > 0, x, 0.0), 0),
    ],
)
def test_every_wait_for_a_value_is_a_read_back(call, reads):
    x = torch.randn(5)
    assert count(lambda: call(x)).read_backs == reads


def test_factorizations_are_told_apart():
    x = torch.randn(9, 3)
    found = count(
        lambda: (torch.linalg.qr(x), torch.linalg.svd(x), torch.linalg.eigh((x.T @ x).cpu()))
    )
    assert (found.qr, found.dense) == (1, 1)  # the eigenproblem is the host's


def test_gleanvid_stays_within_its_aims_on_32_units():
    (row,) = count_all([GleanVID()], made_up_tokens((32, 14, 14), 3584, "cpu"))["rows"]
    assert row["kernels"] <= 1100 and row["read_backs"] <= 8
    assert row["qr"] == row["dense"] == 0


def test_a_gpu_is_busy_while_its_own_kernels_run():
    events = [
        SimpleNamespace(device_type=kind, self_device_time_total=micros)
        for kind, micros in ((DeviceType.CUDA, 30), (DeviceType.CPU, 500), (DeviceType.CUDA, 12))
    ]
    assert kernel_seconds(events) == pytest.approx(42e-6)


def test_times_of_a_gpu_stand_in_the_table_where_there_are_any():
    report = count_all([GleanVID()], made_up_tokens((4, 4, 4), 64, "cpu"))
    assert "launch gap" not in table(report)
    report["rows"][0] |= {"device_s": 0.0021, "launch_gap_s": 0.0123}
    assert table(report).splitlines()[-1].endswith("| 2.10 | 12.30 |")


def test_kernels_with_fused_steps_stand_below_the_table():
    report = count_all([GleanVID()], made_up_tokens((4, 4, 4), 64, "cpu"))
    assert "fused" not in table(report)
    report["rows"][0]["kernels_fused"] = 1234
    assert table(report).splitlines()[-1] == "`gleanvid` with fused steps: 1,234 kernels"


def test_a_cpu_counts_fused_steps_in_the_interpreter_alone(capsys):
    words = ["bench", "compress", "--count", "--fused", "--grid", "4x4x4", "--width", "64"]
    assert main(words) != 0 and "TRITON_INTERPRET=1" in capsys.readouterr().err
    surroundings = os.environ | {"TRITON_INTERPRET": "1"}
    command = [sys.executable, "-m", "gleanvid.cli", *words, "--json"]
    done = subprocess.run(command, env=surroundings, capture_output=True, text=True, check=True)
    (row,) = json.loads(done.stdout)["rows"]
    assert row["kernels_fused"] < row["kernels"]


def test_fused_steps_are_on_file_for_gleanvid():
    report = json.loads((ROOT / "results" / "compress_work.json").read_text(encoding="utf-8"))
    fused = {row["compressor"]: row.get("kernels_fused") for row in report["rows"]}
    assert fused["gleanvid"] <= 600 and fused["vidcom2"] is None


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs CUDA")
def test_a_gpu_is_timed():
    (row,) = count_all([GleanVID()], made_up_tokens((8, 8, 8), 256, "cuda"))["rows"]
    assert row["device_s"] > 0 and row["launch_gap_s"] >= 0


def test_the_readme_shows_the_counts_on_file():
    report = json.loads((ROOT / "results" / "compress_work.json").read_text(encoding="utf-8"))
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    shown = text.split("<!-- work: begin -->")[1].split("<!-- work: end -->")[0]
    assert shown.strip() == table(report)


def test_the_command_counts_what_it_lists(capsys):
    words = ["bench", "compress", "--count", "--grid", "4x4x4", "--width", "64"]
    assert main([*words, "--compressor", "gleanvid,uniform", "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert [row["compressor"] for row in report["rows"]] == ["gleanvid", "uniform"]
    assert main(words) == 0
    assert "| `gleanvid` |" in capsys.readouterr().out
