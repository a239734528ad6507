"""The decoding process has few rights, in case a hostile clip takes the process over."""

import io
import json
import os
import socket
import struct
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from gleanvid.video.isolation import messages, rights, sandbox, spare
from gleanvid.video.plan import Request, UnreadableVideoError
from tests.video.clips import write_clip

INSIDE = """
import json, os, signal, socket, subprocess, sys, threading
from gleanvid.video.isolation import rights
path, port, parent = sys.argv[1], int(sys.argv[2]), os.getppid()
status = open("/proc/self/status")  # while files can still be opened
rights.give_up(path)
def tried(act):
    try:
        act()
        return "done"
    except (OSError, subprocess.SubprocessError) as error:
        return type(error).__name__
def start():
    thread = threading.Thread(target=int); thread.start(); thread.join()
results = {
    "read the clip": tried(lambda: open(path, "rb").read(1)),
    "start a thread": tried(start),
    "read a file": tried(lambda: open("/etc/passwd").read()),
    "list a folder": tried(lambda: os.listdir("/")),
    "read the parent's environment": tried(lambda: open(f"/proc/{parent}/environ", "rb").read()),
    "write a file": tried(lambda: open(path + ".new", "w")),
    "write the clip": tried(lambda: open(path, "r+b")),
    "empty the clip": tried(lambda: os.truncate(path, 0)),
    "remove the clip": tried(lambda: os.unlink(path)),
    "connect": tried(lambda: socket.create_connection(("127.0.0.1", port), 2)),
    "signal the parent": tried(lambda: os.kill(parent, signal.SIGUSR1)),
    "run a program": tried(lambda: os.execv("/bin/true", ["true"])),
}
rights_of_root = [line.split()[1] for line in status if line[:6] in ("CapEff", "CapPrm", "CapInh")]
print(json.dumps([results, rights_of_root]))
"""


@pytest.mark.skipif(rights._landlock_version() < 6, reason="needs Linux 6.12 with Landlock")
def test_decoder_process_may_only_read_the_clip_and_start_threads(tmp_path):
    clip = write_clip(tmp_path / "clip.mp4", 4)
    if os.getuid() == 0:  # root must be able to read files of other users, too
        os.chown(clip, 1234, 1234)
        clip.chmod(0o600)
    with socket.create_server(("127.0.0.1", 0)) as server:
        words = [sys.executable, "-c", INSIDE, str(clip), str(server.getsockname()[1])]
        done = subprocess.run(words, capture_output=True, text=True, timeout=60)
    results, rights_of_root = json.loads(done.stdout)
    assert all(rights.layers().values())
    assert {int(mask, 16) for mask in rights_of_root} <= {0, rights.CAP_DAC_READ_SEARCH}
    assert results.pop("read the clip") == results.pop("start a thread") == "done"
    assert set(results.values()) == {"PermissionError"}, results


def test_environment_of_the_decoder_process_contains_no_secret(monkeypatch):
    monkeypatch.setenv("HF_TOKEN", "hf_secret")
    decoder = spare.Decoder()
    try:
        found = Path(f"/proc/{decoder.process.pid}/environ").read_bytes()
    finally:
        decoder.end()
    names = {entry.partition(b"=")[0].decode() for entry in found.split(b"\0") if entry}
    assert b"hf_secret" not in found and names <= {*spare.PASSED_ON, *spare.FEW_THREADS}


REQUEST = Request("/clip.mp4", "clip.mp4", "mov", 2, "pyav")
PLAN = {
    "indices": [0, 1], "timestamps": [0.0, 1.0], "size": [2, 2], "source_size": [2, 2],
    "fps": 1.0, "duration": 2.0, "total_frames": 2, "notes": [],
}  # fmt: skip


class Harmful:
    """Unpickling an object of this class ends the program."""

    def __reduce__(self):
        return os._exit, (7,)


def line(kind, value=None):
    return json.dumps([kind, value]).encode() + b"\n"


def plan(**changes):
    return line("plan", PLAN | changes)


def npy(array):
    np.save(file := io.BytesIO(), array)
    return file.getvalue()


def header(text):
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(text)) + text


FORGED = {
    "no JSON": b"x\n",
    "no message": b"{}\n",
    "deep": b"[" * 4000 + b"\n",
    "long": b" " * (messages.MAX_LINE_BYTES + 9),
    "unknown": line("?"),
    "frame without plan": line("frame", 0) + npy(np.zeros((2, 2, 3), np.uint8)),
    "place 2": plan() + line("frame", 2) + npy(np.zeros((2, 2, 3), np.uint8)),
    "place -1": plan() + line("frame", -1) + npy(np.zeros((2, 2, 3), np.uint8)),
    "shape": plan() + line("frame", 0) + npy(np.zeros((2, 1, 3), np.uint8)),
    "floats": plan() + line("frame", 0) + npy(np.zeros((1, 1, 3), np.float32)),
    "pickle": plan() + line("frame", 0) + npy(np.array([Harmful()])),
    "no array": plan() + line("frame", 0) + bytes(99),
    "long header": plan() + line("frame", 0) + header(b" " * 60_000),
    "huge": plan() + line("frame", 0)
    + header(b"{'descr': '|u1', 'fortran_order': False, 'shape': (4611686018427387904,)}"),
    "negative": plan() + line("frame", 0)
    + header(b"{'descr': '|u1', 'fortran_order': False, 'shape': (-2, -6)}"),
    "huge plan": plan(size=[2**20, 2**20]),
    "one side": plan(size=[2]),
    "negative sides": plan(size=[-2, -6]),
    "more frames": plan(indices=[0] * 9, timestamps=[0.0] * 9),
    "text for a number": plan(fps="fast"),
    "note": plan(notes=[["x"]]),
    "other field": plan(other=1),
}  # fmt: skip


@pytest.mark.parametrize("name", FORGED)
def test_forged_message_of_the_decoder_process_raises_a_readable_error(monkeypatch, name, tmp_path):
    (tmp_path / "sent").write_bytes(FORGED[name])
    program = (
        f"import sys; out = sys.stdout.buffer; out.write(open({str(tmp_path / 'sent')!r}, 'rb')"
    )
    monkeypatch.setattr(spare, "KEPT", spare.Spare())
    monkeypatch.setattr(spare, "START", program + ".read()); out.flush(); input()")
    with pytest.raises(UnreadableVideoError, match="something other than frames"):
        list(sandbox.decode(REQUEST, 20))
