"""The decoding process has few rights, in case a hostile clip takes the process over."""

from __future__ import annotations

import errno
import json
import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from gleanvid.video.isolation import rights, sandbox, spare
from gleanvid.video.isolation.messages import HEADER, PLACE
from gleanvid.video.plan import Request, UnreadableVideoError
from tests.video.clips import write_clip

INSIDE = """
import ctypes, fcntl, json, os, resource, signal, socket, subprocess, sys, threading
from gleanvid.video.isolation import rights
path, port, newest_landlock = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
parent = os.getppid()
libc = ctypes.CDLL(None, use_errno=True)
FCNTL, CLOCK_SETTIME, INIT_MODULE = {"x86_64": (72, 227, 175)}.get(os.uname()[4], (25, 112, 105))
SHMAT, MQ_UNLINK, TRUNCATE = {"x86_64": (30, 241, 76)}.get(os.uname()[4], (196, 181, 45))
rights.FILE_RIGHTS = {n: held for n, held in rights.FILE_RIGHTS.items() if n <= newest_landlock}
pipe, _ = os.pipe()
status = open("/proc/self/status")  # while files can still be opened
held = rights.give_up(path)
def tried(act):
    try:
        act()
        return "done"
    except (OSError, subprocess.SubprocessError) as error:
        return type(error).__name__
def connect(): socket.create_connection(("127.0.0.1", port), 2)
def send(): socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b"x", ("127.0.0.1", port))
def start():
    thread = threading.Thread(target=int); thread.start(); thread.join()
def call(number, *arguments):
    if libc.syscall(number, *arguments) < 0: raise OSError(ctypes.get_errno(), "call")
def watch():
    if libc.inotify_init1(0) < 0: raise OSError(ctypes.get_errno(), "inotify")
results = {
    "read the clip": tried(lambda: open(path, "rb").read(1)),
    "start a thread": tried(start),
    "read a file": tried(lambda: open("/etc/passwd").read()),
    "list a folder": tried(lambda: os.listdir("/")),
    "watch what others write": tried(watch),
    "read the parent's environment": tried(lambda: open(f"/proc/{parent}/environ", "rb").read()),
    "write a file": tried(lambda: open(path + ".new", "w")),
    "write the clip": tried(lambda: open(path, "r+b")),
    "remove the clip": tried(lambda: os.unlink(path)),
    "change its mode": tried(lambda: os.chmod(path, 0o600)),
    "connect": tried(connect),
    "send": tried(send),
    "make a pair of sockets": tried(socket.socketpair),
    "signal the parent": tried(lambda: os.kill(parent, signal.SIGUSR1)),
    "limit the parent": tried(lambda: resource.prlimit(parent, resource.RLIMIT_CPU, (9, 9))),
    "have the parent signalled": tried(lambda: fcntl.fcntl(pipe, fcntl.F_SETOWN, parent)),
    "have another group signalled": tried(lambda: call(FCNTL, pipe, 15, bytes(8))),
    "choose that signal": tried(lambda: fcntl.fcntl(pipe, fcntl.F_SETSIG, signal.SIGKILL)),
    "turn it on": tried(lambda: fcntl.ioctl(pipe, 0x5452, bytes([1, 0, 0, 0]))),
    "name its owner": tried(lambda: fcntl.ioctl(pipe, 0x8901, bytes(4))),
    "set the clock": tried(lambda: call(CLOCK_SETTIME, 99, None)),
    "load a module": tried(lambda: call(INIT_MODULE, None, 0, None)),
    "attach shared memory": tried(lambda: call(SHMAT, 0, None, 0)),
    "remove a queue": tried(lambda: call(MQ_UNLINK, b"x")),
    "empty a file": tried(lambda: call(TRUNCATE, os.fsencode(path), 0)),
    "fork": tried(os.fork),
    "run a program": tried(lambda: os.execv("/bin/true", ["true"])),
}
newest = libc.syscall(463, 0, 0, 0, 0, 0, 0), ctypes.get_errno()
fcntl.fcntl(pipe, fcntl.F_SETFL, fcntl.fcntl(pipe, fcntl.F_GETFL) | os.O_NONBLOCK)
rights_of_root = [line.split()[1] for line in status if line[:6] in ("CapEff", "CapPrm", "CapInh")]
print(json.dumps([held, results, newest, rights_of_root]))
"""


@pytest.mark.parametrize(
    "landlock", [99, 2]
)  # newest Landlock version whose file rights are used: 99 for all, 2 as before Linux 6.2
def test_decoder_process_may_only_read_the_clip_and_start_threads(tmp_path, landlock):
    clip = write_clip(tmp_path / "clip.mp4", 4)
    if os.getuid() == 0:  # root must be able to read files of other users, too
        os.chown(clip, 1234, 1234)
        clip.chmod(0o600)
    layers = sandbox.layers()
    if set(layers) != set(rights.LAYERS):
        pytest.skip(f"this system has only {layers}")
    with socket.create_server(("127.0.0.1", 0)) as server:
        words = [sys.executable, "-c", INSIDE, str(clip), str(server.getsockname()[1])]
        words.append(str(landlock))
        done = subprocess.run(words, capture_output=True, text=True, timeout=60)
    held, results, newest, rights_of_root = json.loads(done.stdout)
    assert held == list(layers) and newest == [-1, errno.ENOSYS]
    assert {int(mask, 16) for mask in rights_of_root} <= {0, rights.CAP_DAC_READ_SEARCH}
    assert results.pop("read the clip") == results.pop("start a thread") == "done"
    assert set(results.values()) == {"PermissionError"}, results
    assert clip.is_file()


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


def frame(place=0, size=12):
    return HEADER.pack(b"F", PLACE.size + size) + PLACE.pack(place) + bytes(size)


def plan(**changes):
    text = json.dumps(PLAN | changes).encode()
    return HEADER.pack(b"P", len(text)) + text


@pytest.mark.parametrize(
    "sent",
    [
        HEADER.pack(b"F", 2**62),
        HEADER.pack(b"P", 2**40),
        HEADER.pack(b"E", 2**40),
        HEADER.pack(b"?", 1),
        frame(),
        plan() + HEADER.pack(b"F", 2**62),
        plan() + frame(size=13),
        plan() + frame(place=2),
        plan() + frame(place=-1),
        plan(size=[2**20, 2**20]),
        plan(size=[2]),
        plan(size=[-2, -6]),
        plan(indices=[0] * 9, timestamps=[0.0] * 9),
        plan(fps="fast"),
        plan(notes=[["x"]]),
        plan(other=1),
        HEADER.pack(b"P", 4000) + b"[" * 4000,
    ],
    ids=range(17),
)
def test_forged_message_of_the_decoder_process_raises_a_readable_error(monkeypatch, sent):
    program = f"import sys, time; sys.stdout.buffer.write({sent!r}); sys.stdout.flush(); input()"
    monkeypatch.setattr(spare, "KEPT", spare.Spare())
    monkeypatch.setattr(spare, "START", program)
    with pytest.raises(UnreadableVideoError, match="something other than frames"):
        list(sandbox.decode(REQUEST, 20))
