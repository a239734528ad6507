"""One visitor has so many events under way, and others theirs."""

from __future__ import annotations

import asyncio
from contextlib import ExitStack

from components.server.events import Events, Turns
from tests.components.server.test_guard_limits import crowd


def test_so_many_and_no_more():
    held = ["1.2.3.4", "2001:db8::1"]
    events = Events(2, lambda: held)
    with events.begun("1.2.3.4") as first, events.begun("1.2.3.4") as second:
        assert first and not second
    with events.begun("2001:db8::/64") as allowed:
        assert allowed
    held += ["2001:db8::2"]  # of the same visitor
    with events.begun("2001:db8::/64") as allowed:
        assert not allowed
    assert not events._beginning


def test_those_that_begin_at_the_same_time_count():
    events = Events(2, tuple)
    with ExitStack() as stack:
        told = [stack.enter_context(events.begun(visitor)) for visitor in "aaab"]
        assert told == [True, True, False, True]
    with events.begun("a") as again:
        assert again


def test_without_a_limit_any_number_may_begin():
    with Events(0, lambda: ["a"] * 99).begun("a") as allowed:
        assert allowed


def test_a_crowd_of_one_visitor_leaves_places_to_another():
    async def requests():
        turns, beside, told, most = Turns(together=2, most=5), [], [], 0

        async def request(visitor):
            nonlocal most
            async with turns.taken(visitor) as allowed:
                told.append((visitor, allowed))
                if allowed:
                    beside.append(visitor)
                    most = max(most, beside.count("a"))
                    await asyncio.sleep(0.01)
                    beside.remove(visitor)

        await asyncio.gather(*map(request, "aaaaaaab"))
        return told, most, turns

    told, most, turns = crowd(requests)
    assert most == 2
    assert [allowed for visitor, allowed in told if visitor == "a"].count(False) == 2
    assert ("b", True) in told[:5]  # while others of the crowd still wait
    assert not turns._sent and not turns._places


def test_a_request_that_breaks_off_gives_its_turn_back():
    async def requests():
        turns = Turns(together=1, most=2)
        held = turns.taken("a")
        await held.__aenter__()
        waiting = asyncio.create_task(turns.taken("a").__aenter__())
        await asyncio.sleep(0)
        waiting.cancel()
        await asyncio.gather(waiting, return_exceptions=True)
        await held.__aexit__(None, None, None)
        async with turns.taken("a") as allowed:
            return allowed, turns

    allowed, turns = crowd(requests)
    assert allowed and not turns._sent


def test_crowds_of_many_visitors_leave_threads_to_everything_else():
    async def requests():
        turns, beside, most, order = Turns(together=3, most=60, of_all=4), 0, 0, []

        async def request(visitor):
            nonlocal beside, most
            async with turns.taken(visitor):
                beside += 1
                most = max(most, beside)
                await asyncio.sleep(0.01)
                beside -= 1
                order.append(visitor)

        crowds = [f"visitor {number}" for number in range(14) for _ in range(3)]
        await asyncio.gather(*map(request, [*crowds, "late"]))
        return most, order, turns

    most, order, turns = crowd(requests)
    assert most == 4 and order[-1] == "late" and len(order) == 43
    assert not turns._sent and not turns._places
