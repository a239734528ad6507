"""Small computations use one thread and do not change the settings of other threads."""

import pytest
import torch

from gleanvid.compressors import GleanVID
from gleanvid.ops import threads
from gleanvid.ops.residuals import SubspaceEvidence
from gleanvid.ops.threads import one_thread_if_small
from gleanvid.types import VideoTokens

CPU = torch.device("cpu")


@pytest.fixture(autouse=True)
def two_threads():
    before = torch.get_num_threads()
    torch.set_num_threads(2)
    yield
    torch.set_num_threads(before)


def test_small_work_uses_one_thread_and_restores_the_number_of_threads():
    with one_thread_if_small(1e6, CPU):
        assert torch.get_num_threads() == 1
    assert torch.get_num_threads() == 2
    with one_thread_if_small(1e12, CPU):
        assert torch.get_num_threads() == 2


@pytest.mark.parametrize(("small", "count"), [(threads._SMALL, 1), (0, 2)])
def test_gleanvid_compresses_small_clips_on_one_thread(small, count, monkeypatch):
    monkeypatch.setattr(threads, "_SMALL", small)
    found, complement = set(), SubspaceEvidence.complement

    def looked_at(self, unit):
        found.add(torch.get_num_threads())
        return complement(self, unit)

    monkeypatch.setattr(SubspaceEvidence, "complement", looked_at)
    generator = torch.Generator().manual_seed(0)
    GleanVID(0.5).compress(VideoTokens(torch.randn(512, 64, generator=generator), (8, 8, 8)))
    assert found == {count}
