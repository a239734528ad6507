"""Forged data from a compromised decoding process is refused."""

from __future__ import annotations

import json

import pytest

from gleanvid.video.isolation import bounds, sandbox, spare
from gleanvid.video.isolation.messages import HEADER
from gleanvid.video.plan import UnreadableVideoError
from tests.server.test_saved_run import opened, packed


def message(kind, content=b"", length=None):
    return HEADER.pack(kind, len(content) if length is None else length) + content


def forge(monkeypatch, sent):
    """Make every decoding process send the bytes ``sent`` and exit."""
    program = f"import sys; sys.stdout.buffer.write({sent!r}); sys.stdout.flush()"
    monkeypatch.setattr(spare, "KEPT", spare.Spare())
    monkeypatch.setattr(spare, "START", program)


def about(*facts):
    return message(b"A", json.dumps(facts).encode())


@pytest.mark.parametrize(
    "sent",
    [
        message(b"D", length=2**62),
        message(b"J", length=2**40),
        message(b"J", b"[" * 100 + b"]" * 100),
        message(b"J", b"{"),
        message(b"E", length=2**40),
        message(b"."),
        message(b"?", b"x"),
        message(b"P", b"{}"),
        about("frames", "|u1", [2**30, 2**30], False) + message(b"D", length=2**60),
        about("frames", "|u1", [2**27, 2], False) + message(b"D", length=2**28),
        about("frames", "|u1", [-1, -4], False) + message(b"D", length=4),
        about("frames", "|O", [1], False) + message(b"D", bytes(8)),
        about("frames", "|u1", [4], False) + message(b"D", bytes(5)),
        about("frames", "|u1", ["4"], False) + message(b"D", bytes(4)),
        about("frames", "|u1") + message(b"D", bytes(4)),
        about("frames", "|u1", [4], False) + message(b"D", bytes(3), 4),
    ],
    ids=range(16),
)
def test_forged_run_of_a_worker_is_refused(tmp_path, monkeypatch, sent):
    forge(monkeypatch, sent)
    sentence, mib, _ = opened(packed(tmp_path / "run.zip"))
    assert sentence == bounds.NO_RUN and mib < 40


@pytest.mark.parametrize(
    "text", [b"[" * 100 + b"]" * 100, b"[" + b"0," * bounds.MAX_JSON_ITEMS + b"0]"]
)
def test_decompression_bomb_sent_by_a_worker_is_not_read(tmp_path, monkeypatch, text):
    forge(monkeypatch, message(b"J", text) + message(b"."))
    with pytest.raises(UnreadableVideoError, match="not a run saved"):
        sandbox.unpacked(str(packed(tmp_path / "run.zip")), 20.0)
