from pathlib import Path

import pytest
import torch

from gleanvid.evaluation.bench.bench_compress import peak_above


def test_peak_memory_excludes_memory_held_before_the_call():
    if not Path("/proc/self/clear_refs").exists():
        pytest.skip("peak memory of a CPU process is read from /proc, which needs Linux")
    size = 2**24  # 64 MiB: blocks above 32 MiB are returned to the system when freed
    before = torch.ones(size)
    peak = peak_above(torch.device("cpu"), lambda: len(torch.ones(size)) + len(before))
    assert 48 < peak < 100  # MiB; `before` was allocated before the call, so it is not counted
