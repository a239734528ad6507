"""Runs are kept within a bound in bytes."""

from __future__ import annotations

from components.session.store import RunStore
from gleanvid import GleanVID
from tests.components.fake import Library, a_run, moving_square


def make_run(frames: int = 32):
    video, library = moving_square(frames), Library()
    method = GleanVID()
    tokens = library.tokens(video)
    return a_run(video, method.compress(tokens), method)


def test_the_oldest_run_goes_first_and_the_newest_always_stays():
    runs = RunStore(limit_mib=2.5)  # one run of 32 frames is a little below 1 MiB
    ids = [runs.add(make_run()) for _ in range(4)]
    assert runs.get(ids[0]) is None and runs.get(ids[-1]) is not None
    assert len(runs) == 2
    tiny = RunStore(limit_mib=0)
    assert tiny.get(tiny.add(make_run())) is not None


def test_looking_at_a_run_keeps_it():
    runs = RunStore(limit_mib=2.5)
    first, second = runs.add(make_run()), runs.add(make_run())
    runs.get(first)
    runs.add(make_run())
    assert runs.get(first) is not None and runs.get(second) is None


def test_unknown_ids_are_no_runs():
    assert RunStore().get("../../etc/passwd") is None
    assert RunStore().get(None) is None


def test_small_runs_are_bounded_in_number():
    runs, run = RunStore(most=3), make_run(2)
    ids = [runs.add(run) for _ in range(5)]
    assert len(runs) == 3 and runs.get(ids[1]) is None and runs.get(ids[2]) is not None
