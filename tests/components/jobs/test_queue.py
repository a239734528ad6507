import threading
import time

import pytest

from components.jobs.queue import ModelQueue, Work
from gleanvid.errors import BusyError
from gleanvid.types import StoppedError


def test_queued_jobs_run_in_order_and_see_their_position():
    queue, works = ModelQueue(), [Work() for _ in range(3)]
    assert list(queue.wait(works[0])) == []
    second, third = queue.wait(works[1]), queue.wait(works[2])
    assert (next(second), next(third)) == (1, 2)
    queue.leave(works[0])
    assert list(second) == []
    assert next(third) == 1
    queue.leave(works[1])
    assert list(third) == []


def test_ending_a_waiting_job_removes_it_from_the_queue_at_once():
    queue, first, second = ModelQueue(), Work(), Work()
    list(queue.wait(first))
    waiting = queue.wait(second)
    next(waiting)
    threading.Timer(0.05, second.end).start()
    started = time.perf_counter()
    with pytest.raises(StoppedError):
        list(waiting)
    assert time.perf_counter() - started < 20
    queue.leave(second)
    assert len(queue) == 1 and not first.stop.is_set()


def test_job_past_its_deadline_is_stopped_with_the_deadline_as_reason():
    queue, work = ModelQueue(deadline_s=0.05), Work()
    list(queue.wait(work))
    assert work.stop.wait(20) and "0.05 seconds" in work.why


def test_time_in_the_queue_does_not_count_towards_the_deadline():
    queue, first, second = ModelQueue(deadline_s=0.2), Work(), Work()
    list(queue.wait(first))
    waiting = queue.wait(second)
    next(waiting)
    assert first.stop.wait(20) and second not in queue._timers
    queue.leave(first)
    list(waiting)
    assert queue._timers[second].interval == 0.2


def test_job_is_refused_if_the_queue_is_full():
    queue = ModelQueue(places=1)
    list(queue.wait(Work()))
    next(queue.wait(Work()))
    with pytest.raises(BusyError, match="1 people are waiting"):
        next(queue.wait(Work()))
