"""What the decoding process could do if a clip had taken it over: nothing."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from gleanvid.types import StoppedError, VideoError
from gleanvid.video import read_video
from gleanvid.video.isolation import sandbox, spare
from gleanvid.video.isolation.worker import HEADER, PLACE
from gleanvid.video.plan import Request, UnreadableVideoError
from tests.components.fake import write_clip
from tests.server.running import alive

INSIDE = """
import ctypes, json, os, resource, signal, socket, subprocess, sys, threading
from gleanvid.video.isolation import worker
path, port = sys.argv[1], int(sys.argv[2])
parent = os.getppid()
held = worker.restricted(path)
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
results = {
    "read the clip": tried(lambda: open(path, "rb").read(1)),
    "start a thread": tried(start),
    "read a file": tried(lambda: open("/etc/passwd").read()),
    "list a folder": tried(lambda: os.listdir("/")),
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
    "fork": tried(os.fork),
    "run a program": tried(lambda: os.execv("/bin/true", ["true"])),
}
print(json.dumps([held, results]))
"""


@pytest.fixture(scope="module")
def clip(tmp_path_factory):
    path = tmp_path_factory.mktemp("clip") / "clip.mp4"
    write_clip(path)
    return path


def test_nothing_but_the_clip_and_threads_is_left(clip):
    held = sandbox.layers()
    if set(held) != set(sandbox.LAYERS):
        pytest.skip(f"this system has only {held}")
    with socket.create_server(("127.0.0.1", 0)) as server:
        words = [sys.executable, "-c", INSIDE, str(clip), str(server.getsockname()[1])]
        done = subprocess.run(words, capture_output=True, text=True, timeout=60)
    told, results = json.loads(done.stdout)
    assert told == list(held)
    assert results.pop("read the clip") == results.pop("start a thread") == "done"
    assert set(results.values()) == {"PermissionError"}, results
    assert clip.is_file()


def test_no_secret_is_in_its_environment(monkeypatch):
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
def test_what_a_decoder_forges_becomes_a_sentence(monkeypatch, sent):
    program = f"import sys, time; sys.stdout.buffer.write({sent!r}); sys.stdout.flush(); input()"
    monkeypatch.setattr(spare, "KEPT", spare.Spare())
    monkeypatch.setattr(spare, "_START", program)
    with pytest.raises(UnreadableVideoError, match="something else than pictures"):
        list(sandbox.decode(REQUEST, 20))


def test_a_reading_that_is_stopped_ends_its_process_at_once(clip, monkeypatch):
    hanging = "import time; time.sleep(77)"
    monkeypatch.setattr(spare, "KEPT", spare.Spare())
    monkeypatch.setattr(spare, "_START", hanging)
    stop = threading.Event()
    threading.Timer(0.5, stop.set).start()
    start = time.monotonic()
    with pytest.raises(StoppedError):
        read_video(clip, 2, stop=stop)
    assert time.monotonic() - start < 2.5 and not alive(hanging.encode())


def test_a_reading_has_a_deadline(clip, monkeypatch):
    monkeypatch.setattr(spare, "KEPT", spare.Spare())
    monkeypatch.setattr(spare, "_START", "import time; time.sleep(77)")
    with pytest.raises(VideoError, match=r"longer than 0\.3 seconds"):
        read_video(clip, 2, timeout_s=0.3)


def test_the_process_in_hand_is_used_and_replaced(clip):
    kept = spare.Spare()
    kept.keep()
    end = time.monotonic() + 30
    while kept._waiting.empty() and time.monotonic() < end:
        time.sleep(0.05)
    first = kept.take()
    kept.refill()
    while kept._waiting.empty() and time.monotonic() < end:
        time.sleep(0.05)
    second = kept.take()
    assert first.process.pid != second.process.pid and second.process.poll() is None
    first.end()
    second.end()


def test_a_process_in_hand_that_has_died_is_passed_over():
    kept = spare.Spare()
    dead = spare.Decoder()
    dead.kill()
    dead.wait()
    kept._waiting.put(dead)
    taken = kept.take()
    assert taken.process.poll() is None
    taken.end()
