from __future__ import annotations

import json
from pathlib import Path

import pytest
import torch

from gleanvid.cli import main
from gleanvid.evaluation.bench.bench_memory import peak_above

BENCH = ["bench", "memory", "--device", "cpu", "--frames"]


@pytest.fixture(scope="module")
def report():
    with pytest.MonkeyPatch.context() as patch:
        printed = []
        patch.setattr("builtins.print", printed.append)
        assert main([*BENCH, "4,8", "--json"]) == 0
    return json.loads(printed[0])


def test_bench_memory_rows_contain_memory_of_frames_and_encoding(report):
    four, eight = report["rows"]
    assert [row["frames"] for row in report["rows"]] == [4, 8]
    patches, rows = 160 * 160 * 3 * 4, 320 * 4  # bytes: a float32 frame, a token feature
    assert eight["pixels_mib"] * 2**20 == 8 * patches
    # 3 features per token: the input embedding and 2 DeepStack levels
    assert eight["held_mib"] * 2**20 == 3 * eight["visual_tokens"] * rows
    assert eight["visual_tokens"] == 2 * four["visual_tokens"]


def test_peak_memory_excludes_memory_held_before_the_call():
    if not Path("/proc/self/clear_refs").exists():
        pytest.skip("peak memory of a CPU process is read from /proc, which needs Linux")
    size = 2**24  # 64 MiB: blocks above 32 MiB are returned to the system when freed
    before = torch.ones(size)
    peak, kept = peak_above(torch.device("cpu"), lambda: len(torch.ones(size)) + len(before))
    assert kept == 2 * size
    assert 48 < peak < 100  # MiB; `before` was allocated before the call, so it is not counted
