"""First come, first served, with the position told; nobody holds the model for ever."""

from __future__ import annotations

import threading
import time

import pytest

from components.session.work.queue import BusyError, Line, Pages, Work
from gleanvid.types import StoppedError


def test_everybody_learns_how_many_come_first_and_gets_a_turn_in_order():
    line, works = Line(), [Work() for _ in range(3)]
    assert list(line.wait(works[0])) == []
    second, third = line.wait(works[1]), line.wait(works[2])
    assert (next(second), next(third)) == (1, 2)
    line.leave(works[0])
    assert list(second) == []
    assert next(third) == 1
    line.leave(works[1])
    assert list(third) == []


def test_ending_work_that_waits_takes_it_out_at_once():
    line, first, second = Line(), Work(), Work()
    list(line.wait(first))
    waiting = line.wait(second)
    next(waiting)
    threading.Timer(0.05, second.end).start()
    started = time.perf_counter()
    with pytest.raises(StoppedError):
        list(waiting)
    assert time.perf_counter() - started < 0.5
    line.leave(second)
    assert len(line) == 1 and not first.stop.is_set()


def test_a_turn_past_its_deadline_is_ended_with_the_reason():
    line, work = Line(deadline_s=0.05), Work()
    list(line.wait(work))
    assert work.stop.wait(1) and "0.05 seconds" in work.why


def test_a_turn_that_ended_in_time_is_left_alone():
    line, work = Line(deadline_s=0.05), Work()
    list(line.wait(work))
    line.leave(work)
    assert not work.stop.wait(0.15)


def test_waiting_costs_no_time_of_one_s_own():
    line, first, second = Line(deadline_s=0.2), Work(), Work()
    list(line.wait(first))
    waiting = line.wait(second)
    next(waiting)
    assert first.stop.wait(1)
    line.leave(first)
    list(waiting)
    assert not second.stop.is_set()


def test_a_line_that_is_full_says_so():
    line = Line(places=1)
    list(line.wait(Work()))
    next(line.wait(Work()))
    with pytest.raises(BusyError, match="1 people are waiting"):
        next(line.wait(Work()))


def test_the_first_reason_counts():
    work = Work()
    work.end("too late")
    work.end()
    assert work.why == "too late"


def test_late_preview_does_not_end_a_newer_one():
    sessions = Pages(Line())
    newer = sessions.begin_preview("me", 6)
    sessions.end_older_preview("me", 5)
    assert not newer.stop.is_set() and sessions.begin_preview("me", 5) is None
    sessions.end_older_preview("me", 7)
    assert newer.stop.is_set()
    assert sessions.begin_preview("me", 7) is not None  # it was not begun by ending another


def test_version_of_a_page_never_falls_back():
    sessions = Pages(Line())
    sessions.begin_preview("me", 6)
    sessions.begin_preview("me")  # of an unknown version
    assert sessions.begin_preview("me", 6) is None
