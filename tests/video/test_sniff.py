"""Some files are refused before any decoder opens them, with the right error message."""

import os
import socket

import pytest

from gleanvid.types import VideoError
from gleanvid.video import read_video
from gleanvid.video.decoders import BACKENDS
from gleanvid.video.isolation import sandbox
from gleanvid.video.sniff import check_file

PLAYLIST = "#EXTM3U\n#EXT-X-TARGETDURATION:9\n#EXTINF:9,\nfile://{}\n#EXT-X-ENDLIST\n"

REFUSED = {  # file name -> content, words of the error message
    "empty.mp4": (b"", "is empty"),
    "noise.mp4": (bytes(range(128, 256)) * 64, "not a video"),
    "notes.mp4": ("caf\u00e9 \u2013 plain words\n".encode() * 300, "is text"),
    "page.mp4": (b"<!doctype html><title>404</title>", "is text"),
    "phone.mp4": (b"\0\0\0\x18ftypheic" + bytes(64), "HEIC picture"),
    "song.mp4": (b"ID3\x04" + bytes(64), "sound file"),
    "song.avi": (b"RIFF\0\0\0\0WAVEfmt " + bytes(64), "sound file"),
    "list.mp4": (PLAYLIST.format("/etc/hostname").encode(), "playlist"),
    "list.mkv": (b"\xef\xbb\xbf\n#EXTM3U\nhttp://10.0.0.1/", "playlist"),
    "list.avi": (b"ffconcat version 1.0\nfile other.mp4\n", "playlist"),
    "list.webm": (b"<?xml version='1.0'?>\n<MPD></MPD>", "playlist"),
    "archive.mp4": (b"PK\x03\x04" + bytes(64), "not a video"),
}


@pytest.fixture
def no_decoder(monkeypatch):
    def started(*args):
        raise AssertionError("a decoder was started")

    monkeypatch.setattr(sandbox, "decode", started)


@pytest.mark.usefixtures("no_decoder")
@pytest.mark.parametrize("name", REFUSED)
def test_file_that_is_no_video_never_reaches_a_decoder(tmp_path, name):
    content, words = REFUSED[name]
    (tmp_path / name).write_bytes(content)
    for backend in BACKENDS:
        with pytest.raises(VideoError, match=words) as caught:
            read_video(tmp_path / name, backend=backend)
        assert name in str(caught.value)
        assert str(tmp_path) not in str(caught.value)


@pytest.mark.usefixtures("no_decoder")
def test_path_that_cannot_be_read_never_reaches_a_decoder(tmp_path, monkeypatch):
    os.mkfifo(tmp_path / "pipe.mp4")
    (tmp_path / "lost.mp4").symlink_to(tmp_path / "gone.mp4")
    (tmp_path / "ring.mp4").symlink_to(tmp_path / "ring.mp4")
    (tmp_path / "ok.mp4").write_bytes(b"\0\0\0\x18ftypisom")
    for path, words in {
        tmp_path / "gone.mp4": "no file called gone.mp4",
        tmp_path / "ok.mp4" / "deeper.mp4": "no file called deeper.mp4",
        tmp_path: "is a folder",
        tmp_path / "pipe.mp4": "device or a pipe",
        "/dev/zero": "device or a pipe",
        tmp_path / "lost.mp4": "a link to a file that is not there",
        tmp_path / "ring.mp4": "cannot be opened",
        "a\0b.mp4": "cannot be opened",
        "x" * 5000: "cannot be opened",
        "concat:a.mp4|b.mp4": "no file called",
    }.items():
        with pytest.raises(VideoError, match=words):
            read_video(path)

    def forbidden(*args):
        raise PermissionError

    monkeypatch.setattr("pathlib.Path.open", forbidden)
    with pytest.raises(VideoError, match=r"no permission to read ok\.mp4"):
        read_video(tmp_path / "ok.mp4")


@pytest.mark.usefixtures("no_decoder")
def test_web_addresses_are_refused_without_a_connection():
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.setblocking(False)
        port = server.getsockname()[1]
        for address in (f"http://127.0.0.1:{port}/a.mp4", f"rtsp://127.0.0.1:{port}/a"):
            with pytest.raises(VideoError, match="network address"):
                read_video(address)
        with pytest.raises(BlockingIOError):
            server.accept()
    for address in ("file:///etc/hostname", "\\\\server\\share\\a.mp4", "//server/a.mp4"):
        with pytest.raises(VideoError, match="network address"):
            read_video(address)


def test_playlist_behind_a_video_signature_is_not_followed(tmp_path, backend):
    for head in (b"\0\0\0\x18ftypisom\n", b"\x1a\x45\xdf\xa3\n", b"OggS\n"):
        evil = tmp_path / "evil.mp4"
        evil.write_bytes(head + PLAYLIST.format(tmp_path / "secret.mp4").encode())
        os.mkfifo(secret := tmp_path / "secret.mp4")  # opening the pipe would block for ever
        with pytest.raises(VideoError, match=r"damaged"):
            read_video(evil, backend=backend, timeout_s=20)
        secret.unlink()


def test_video_container_is_recognised_by_its_first_bytes(tmp_path):
    heads = {
        b"\0\0\0\x18ftypisom": "mov",
        b"\0\0\0\x08wide\0\0\0\0mdat": "mov",
        b"\x1a\x45\xdf\xa3": "matroska",
        b"RIFF\0\0\0\0AVI LIST": "avi",
        b"OggS": "ogg",
        b"\0\0\x01\xba": "mpeg",
        b"FLV\x01": "flv",
        b"GIF89a": "gif",
        b"\x89PNG\r\n": "picture",
        b"RIFF\0\0\0\0WEBPVP8X": "picture",
        (b"G" + bytes(187)) * 30: "mpegts",
        (bytes(4) + b"G" + bytes(187)) * 30: "mpegts",
    }
    for head, container in heads.items():
        (tmp_path / "clip").write_bytes(head + bytes(16))
        assert check_file(tmp_path / "clip") == ((tmp_path / "clip").resolve(), container)
    assert check_file(str(tmp_path / "clip"))[1] == "mpegts"


def test_error_message_has_no_control_characters_from_a_file_name(tmp_path):
    (tmp_path / "a\n\x1b[31mb.mp4").write_bytes(b"")
    with pytest.raises(VideoError, match=r"^a\?\?\[31mb\.mp4 is empty: "):
        read_video(tmp_path / "a\n\x1b[31mb.mp4")
