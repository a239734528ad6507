"""Small computations use one thread and leave the settings of every other thread alone."""

from threading import Thread

import pytest
import torch

from gleanvid.compressors import GleanVID
from gleanvid.compressors.gleanvid.residuals import SubspaceEvidence
from gleanvid.compressors.shared import threads
from gleanvid.compressors.shared.threads import on_one_thread
from gleanvid.types import VideoTokens

CPU = torch.device("cpu")


@pytest.fixture(autouse=True)
def two_threads():
    before = torch.get_num_threads()
    torch.set_num_threads(2)
    yield
    torch.set_num_threads(before)


def in_new_threads(work, count=1):
    found = []
    workers = [Thread(target=lambda: found.append(work())) for _ in range(count)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    return found


def test_small_work_has_one_thread_and_large_work_has_all():
    assert on_one_thread(torch.get_num_threads, 1e6, CPU) == 1
    assert on_one_thread(torch.get_num_threads, 1e12, CPU) == 2
    assert torch.get_num_threads() == 2


def test_error_of_small_work_reaches_the_caller():
    with pytest.raises(ZeroDivisionError):
        on_one_thread(lambda: 1 / 0, 1e6, CPU)
    assert torch.get_num_threads() == 2


def test_small_work_may_start_small_work():
    outer = on_one_thread(lambda: on_one_thread(torch.get_num_threads, 1e6, CPU), 1e6, CPU)
    assert outer == 1


def test_six_threads_that_compress_keep_their_number_of_threads():
    tokens = VideoTokens(torch.randn(512, 16), (8, 8, 8))

    def work():
        GleanVID(0.5).compress(tokens)
        return torch.get_num_threads()

    for _ in range(5):
        assert in_new_threads(work, 6) == [2] * 6


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
