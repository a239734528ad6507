"""One visitor has so many events under way, and others theirs."""

from __future__ import annotations

from contextlib import ExitStack

from components.server.events import Events


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
