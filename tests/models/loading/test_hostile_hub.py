"""A hub that never ends: everything it says has an end here, and can be left at once."""

from __future__ import annotations

import gzip
import json
import re
import threading
import time
from contextlib import closing

import pytest

from gleanvid.errors import ModelError, StoppedError
from gleanvid.models.loading import download as fetching
from gleanvid.models.loading import listing, wire
from gleanvid.serving.vllm.background import aside
from gleanvid.models.loading.download import fetched
from gleanvid.models.loading.listing import config_of, listed
from tests import local_hub

pytestmark = pytest.mark.slow
NAME = "tiny/model"
ABOUT, TREE, WEIGHTS = "/api/models/tiny/model$", "/tree/", r"\.safetensors$"


@pytest.fixture
def over():
    """Set once the test is over: what stays silent until then."""
    event = threading.Event()
    yield event
    event.set()


def send(answers, pieces, **headers):
    """An answer without an end of its own."""
    answers.send_response(200)
    for name, value in headers.items():
        answers.send_header(name, value)
    answers.send_header("Transfer-Encoding", "chunked")
    answers.end_headers()
    try:
        for piece in pieces:
            answers.wfile.write(b"%x\r\n%s\r\n" % (len(piece), piece))
    except OSError:
        answers.close_connection = True


@pytest.fixture
def evil(hub, monkeypatch):
    """Has the hub answer in another way where the path of a request matches."""
    given = local_hub.Answers.do_GET

    def where(pattern, answer):
        def either(answers):
            answers.hub.asked.append((answers.command, answers.path, None))
            matches = re.search(pattern, answers.path)
            return answer(answers) if matches else given(answers)

        monkeypatch.setattr(local_hub.Answers, "do_GET", either)

    return where


def pages(answers):
    """A page that names itself as the next one."""
    link = f'<{answers.hub.address}{answers.path}>; rel="next"'
    send(answers, [b"[]", b""], Link=link)


def elsewhere(answers):
    send(answers, [b"[]", b""], Link='<http://127.0.0.1:9/tree>; rel="next"')


def endless(answers):
    def blanks():
        while True:
            yield b" " * 2**16

    send(answers, blanks())


def refusing_for_ever(answers):
    answers.send_response(503)
    answers.send_header("Transfer-Encoding", "chunked")
    answers.end_headers()
    try:
        while True:
            answers.wfile.write(b"10000\r\n" + b"x" * 2**16 + b"\r\n")
    except OSError:
        answers.close_connection = True


def words(answers):
    answers.send("no list")


def odd(facts):
    return lambda answers: answers.send([facts])


FILE = {"type": "file", "path": "model.safetensors", "oid": "a" * 40}


@pytest.mark.parametrize(
    ("answer", "sentence"),
    [
        (pages, "no end"),
        (elsewhere, "goes on elsewhere"),
        (endless, "more than any checkpoint needs"),
        (refusing_for_ever, "answered 503"),
        (words, "list of files is none"),
        (odd(FILE), "is no hub"),
        (odd(FILE | {"size": -1}), "is no hub"),
        (odd(FILE | {"size": "many"}), "is no hub"),
        (odd(FILE | {"size": 1, "lfs": {"oid": "../../x"}}), "is no hub"),
    ],
)
def test_a_list_of_files_has_an_end(hub, evil, answer, sentence):
    evil(TREE, answer)
    start = time.monotonic()
    with pytest.raises(ModelError, match=sentence):
        listed(NAME)
    assert time.monotonic() - start < 5
    assert len([path for _, path, _ in hub.asked if TREE in path]) <= listing._PAGES


def slowly(over):
    """A byte now and then, as long as the test lasts."""

    def drip(answers):
        def bytes_():
            while not over.wait(0.05):
                yield b" "

        send(answers, bytes_())

    return drip


def silent(over):
    return lambda answers: over.wait(30)


@pytest.mark.parametrize("kind", [silent, slowly])
@pytest.mark.parametrize("path", [ABOUT, TREE, "/config.json"])
def test_looking_is_over_within_its_time(evil, monkeypatch, over, kind, path):
    download = listed(NAME)
    evil(path, kind(over))
    monkeypatch.setattr(listing, "_LISTED_S", 0.4)
    start = time.monotonic()
    with pytest.raises(ModelError, match="takes too long"):
        config_of(download) if "config" in path else listed(NAME)
    assert time.monotonic() - start < 2


@pytest.mark.parametrize("path", [ABOUT, TREE, WEIGHTS])
def test_a_silent_connection_is_left_at_once(evil, over, path):
    download, reached, stop = listed(NAME), threading.Event(), threading.Event()

    def answer(_):
        reached.set()
        over.wait(30)

    def work():
        with pytest.raises(StoppedError):
            list(fetched(download, stop)) if path == WEIGHTS else listed(NAME, stop)

    evil(path, answer)
    thread = threading.Thread(target=work)
    thread.start()
    assert reached.wait(10)
    stop.set()
    asked = time.monotonic()
    thread.join(10)
    assert time.monotonic() - asked < 1


def test_a_download_that_drips_is_given_up(evil, monkeypatch, over):
    download = listed(NAME)
    evil(WEIGHTS, slowly(over))
    for name, value in (("_PAUSE_S", 0.0), ("_TRIES", 2), ("_LEAST_S", 0.2)):
        monkeypatch.setattr(fetching, name, value)
    with pytest.raises(ModelError, match="broke while"):
        list(fetched(download, threading.Event()))


def test_a_server_without_parts_that_breaks_off_is_given_up(hub, monkeypatch):
    monkeypatch.setattr(fetching, "_PAUSE_S", 0.0)
    hub.repositories[NAME].no_parts, hub.repositories[NAME].breaks = True, 10**6
    with pytest.raises(ModelError, match="broke while"):
        list(fetched(listed(NAME), threading.Event()))
    assert len(hub.asked) < 40


def test_no_answer_unfolds(evil):
    packed = gzip.compress(json.dumps([" " * 2**20]).encode())
    evil(TREE, lambda answers: send(answers, [packed, b""], **{"Content-Encoding": "gzip"}))
    with pytest.raises(ModelError, match="no JSON"):
        listed(NAME)


def test_the_thread_ends_with_whoever_waits_for_it():
    closed = threading.Event()

    def make():
        try:
            while True:
                yield 1
        finally:
            closed.set()

    with closing(aside(make, threading.Event())) as items:
        assert next(items) == 1
    assert closed.wait(5)


def test_what_fails_in_the_thread_is_raised_here():
    def make():
        yield 1
        raise KeyError("broken")

    items = aside(make, threading.Event())
    assert next(items) == 1
    with pytest.raises(KeyError, match="broken"):
        next(items)


def test_bounds_leave_room_for_real_pages():
    entry = json.dumps(local_hub.entry("x" * 200 + ".safetensors", b""))
    assert 1000 * len(entry) * 4 < wire.MOST_JSON
