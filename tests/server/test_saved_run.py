"""Opening a saved run takes bounded memory, whatever it holds."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
import zipfile

import numpy as np
import pytest

from components.files import bounds, exports
from gleanvid import Uniform
from tests.components.fake import Library, a_run, moving_square

RESIDENT = """
import resource, sys
from components.files import exports
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
for path in sys.argv[1:]:
    try:
        exports.opened(path)
        print("opened")
    except ValueError as error:
        print(error)
print((resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) // 1024)
"""


def packed(path, text=b"{}", arrays=b""):
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("run.json", text)
        archive.writestr("run.npz", arrays)
    return path


def npz(**arrays):
    file = io.BytesIO()
    np.savez_compressed(file, **arrays)
    return file.getvalue()


def forged_header(shape):
    file = io.BytesIO()
    header = {"descr": "|u1", "fortran_order": False, "shape": shape}
    np.lib.format.write_array_header_1_0(file, header)
    outer = io.BytesIO()
    with zipfile.ZipFile(outer, "w") as archive:
        archive.writestr("frames.npy", file.getvalue())
    return outer.getvalue()


BOMBS = {
    "many lists": (b"[" + b"[],[]," * 5_000_000 + b"[]]", b""),
    "deep lists": (b"[" * 500_000 + b"]" * 500_000, b""),
    "many numbers": (b"[" + b"0," * 500_000 + b"0]", b""),
    "many names": (b"{" + b",".join(b'"%d":1' % n for n in range(100_000)) + b"}", b""),
    "a long text": (b'"' + b"x" * 30_000_000 + b'"', b""),
    "large arrays": (b"{}", npz(frames=np.zeros((400, 1000, 1000), np.uint8))),
    "a forged size": (b"{}", forged_header((2**20, 2**20))),
    "a negative size": (b"{}", forged_header((-1, 4))),
}


def test_a_bomb_is_refused_before_it_goes_off(tmp_path):
    paths = [
        str(packed(tmp_path / f"{number}.zip", *parts))
        for number, parts in enumerate(BOMBS.values())
    ]
    words = [sys.executable, "-c", RESIDENT, *paths]
    done = subprocess.run(words, capture_output=True, text=True, timeout=100)
    *sentences, resident_mib = done.stdout.splitlines()
    assert len(sentences) == len(BOMBS) and set(sentences) <= {bounds.TOO_LARGE, exports.NO_RUN}
    assert int(resident_mib) < 200


@pytest.mark.parametrize("text", [b"null", b"[]", b'{"cost": []}', b'{"cost": {}, "video": 3}'])
def test_what_is_no_run_is_called_that(tmp_path, text):
    with pytest.raises(ValueError, match="not a run saved"):
        exports.opened(str(packed(tmp_path / "run.zip", text, npz(a=np.zeros(3)))))


def test_a_saved_run_passes_with_its_longest_texts(tmp_path):
    video, method = moving_square(), Uniform(0.5)
    record = method.compress(Library().tokens(video))
    run = a_run(video, record, method, question='"[{' * 2_000)
    again = exports.opened(str(exports.saved_run([run], tmp_path)))
    assert again.question == run.question
    assert os.path.getsize(tmp_path / "run.zip") < bounds.MAX_RUN_BYTES
    bounds.check_json(json.dumps(run.summary()).encode())
