from __future__ import annotations

from components.server import visitors
from components.server.visitors import RateLimit


def test_request_allowance_of_a_visitor_refills_over_time():
    now = [0.0]
    rate = RateLimit(60, clock=lambda: now[0])
    assert [rate.allows("a") for _ in range(61)] == [True] * 60 + [False]
    assert rate.allows("b")
    now[0] = 1.0
    assert [rate.allows("a") for _ in range(2)] == [True, False]


def test_costly_request_takes_more_allowance_and_a_refused_request_none():
    now = [0.0]
    rate = RateLimit(100, 50.0, lambda: now[0])
    assert [rate.allows("a", 60.0) for _ in range(2)] == [True, False]
    assert rate.allows("a", 40.0) and not rate.allows("a", 1.0)
    now[0] = 10.0  # a fifth of the 50 s in which the allowance refills completely
    assert rate.allows("a", 20.0) and not rate.allows("a", 1.0)


def test_least_recent_visitors_are_forgotten(monkeypatch):
    monkeypatch.setattr(visitors, "VISITORS", 3)
    rate = RateLimit(1)
    assert all(rate.allows(name) for name in "abcd")
    assert rate.allows("a") and not rate.allows("d")
