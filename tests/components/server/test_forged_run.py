"""Forged data from a compromised decoding process is refused."""

import numpy as np
import pytest

from gleanvid.video.isolation import bounds, spare
from tests.components.server.test_saved_run import opened, packed
from tests.video.test_rights import header, line, npy

SHAPE = b"{'descr': '%s', 'fortran_order': False, 'shape': %s}"


def array(shape, kind=b"|u1"):
    return line("array", "frames") + header(SHAPE % (kind, shape))


FORGED = {
    "nothing": b"",
    "no facts": line("end"),
    "deep facts": b'["facts",' + b"[" * 100 + b"]" * 100 + b"]\n" + line("end"),
    "many facts": line("facts", [0] * 2 * bounds.MAX_JSON_ITEMS) + line("end"),
    "long facts": b'["facts","' + b"x" * 4 * bounds.MAX_JSON_BYTES,
    "huge array": array(b"(1099511627776, 1048576)") + bytes(9),
    "negative sides": array(b"(-1, -4)") + bytes(4),
    "pickles": array(b"(1,)", b"|O") + bytes(8),
    "short array": array(b"(4,)") + bytes(3),
    "text for a side": array(b"('4',)") + bytes(4),
    "list as a name": line("array", []) + npy(np.zeros(3)) + line("end"),
}


@pytest.mark.parametrize("name", FORGED)
def test_forged_run_of_a_worker_is_refused(tmp_path, monkeypatch, name):
    (tmp_path / "sent").write_bytes(FORGED[name])
    program = f"import sys; sys.stdout.buffer.write(open({str(tmp_path / 'sent')!r}, 'rb').read())"
    monkeypatch.setattr(spare, "KEPT", spare.Spare())
    monkeypatch.setattr(spare, "START", program)
    sentence, mib, _ = opened(packed(tmp_path / "run.zip"))
    assert sentence in (bounds.NO_RUN, bounds.TOO_LARGE) and mib < 40
