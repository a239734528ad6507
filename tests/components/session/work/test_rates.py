"""How much an address may have."""

from __future__ import annotations

from components.session.work import rates
from components.session.work.rates import RateLimit


def test_an_address_gets_its_share_and_no_more():
    now = [0.0]
    rate = RateLimit(60, clock=lambda: now[0])
    assert [rate.allows("a") for _ in range(61)] == [True] * 60 + [False]
    assert rate.allows("b")
    now[0] = 1.0
    assert [rate.allows("a") for _ in range(2)] == [True, False]


def test_what_costs_more_takes_more_and_a_refusal_costs_nothing():
    now = [0.0]
    rate = RateLimit(100, 50.0, lambda: now[0])
    assert [rate.allows("a", 60.0) for _ in range(2)] == [True, False]
    assert rate.allows("a", 40.0) and not rate.allows("a", 1.0)
    now[0] = 10.0  # a fifth of the period
    assert rate.allows("a", 20.0) and not rate.allows("a", 1.0)


def test_only_the_last_addresses_are_remembered(monkeypatch):
    monkeypatch.setattr(rates, "ADDRESSES", 3)
    rate = RateLimit(1, clock=lambda: 0.0)
    assert all(rate.allows(address) for address in "abcd")
    assert rate.allows("a") and not rate.allows("d")
