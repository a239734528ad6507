"""Checks that a file is a video by its type and first bytes, before any decoder opens it.

Decoders open whatever a file refers to: FFmpeg opens network addresses and the files that a
playlist names, whatever the playlist is called (decord 0.6.0 opens a playlist ``evil.mp4``). So
only a regular file that begins with the signature of a known container is accepted, and PyAV opens
it with the demuxer of this container alone. The name of a file says nothing.
"""

from __future__ import annotations

import os
import re
import stat
from pathlib import Path

from gleanvid.video.plan import UnreadableVideoError

_HEAD = 4096  # bytes read from the start of a file
OTHER = "choose a video or a picture"

_HEIC = (b"heic", b"heix", b"hevc", b"mif1", b"msf1")
_CONTAINERS = (  # (byte offset, signature, FFmpeg demuxer or "picture")
    (0, b"\x89PNG", "picture"),
    (0, b"\xff\xd8\xff", "picture"),  # JPEG
    (0, b"BM", "picture"),
    (8, b"WEBP", "picture"),
    (0, b"II*\x00", "picture"),  # TIFF
    (0, b"MM\x00*", "picture"),
    (4, b"ftypavif", "picture"),
    (4, b"ftypavis", "picture"),
    *((4, box, "mov") for box in (b"ftyp", b"moov", b"mdat", b"free", b"skip", b"wide", b"pnot")),
    (0, b"\x1a\x45\xdf\xa3", "matroska"),  # EBML: Matroska, WebM
    (8, b"AVI ", "avi"),
    (0, b"OggS", "ogg"),
    (0, b"\x00\x00\x01\xba", "mpeg"),  # MPEG program stream
    (0, b"\x00\x00\x01\xb3", "mpegvideo"),  # MPEG-1/2 elementary stream
    (0, bytes.fromhex("3026b2758e66cf11a6d900aa0062ce6c"), "asf"),
    (0, b"FLV\x01", "flv"),
    (0, b"GIF87a", "gif"),
    (0, b"GIF89a", "gif"),
)
_SOUNDS = ((0, b"ID3"), (0, b"\xff\xfb"), (0, b"\xff\xf3"), (0, b"fLaC"), (8, b"WAVE"))
_PLAYLIST = re.compile(
    rb"(#EXTM3U|#EXTINF|ffconcat|\[playlist\]|\[Reference\]|RTSPtext|<asx|<smil|<MPD|<\?xml.*<MPD)",
    re.IGNORECASE | re.DOTALL,
)
_ADDRESS = re.compile(r"^([a-z][a-z0-9+.-]+://|\\\\|//[^/])", re.IGNORECASE)


def label(path: str | os.PathLike[str]) -> str:
    """Return a file's name for use in a message, without folders and control characters."""
    name = Path(path).name or str(path)
    return "".join(c if c.isprintable() else "?" for c in name)[:120]


def check_file(path: str | os.PathLike[str]) -> tuple[Path, str]:
    """Return ``path`` with links resolved, and the FFmpeg demuxer for the file, or "picture".

    Raises ``UnreadableVideoError`` if the file cannot be read, with the reason.
    """
    name = label(path)
    if _ADDRESS.match(os.fspath(path)):
        raise UnreadableVideoError(
            "This is a network address or URL; only files on this machine are read. "
            "Download the video first."
        )
    try:
        real = _regular_file(Path(path), name)
        with real.open("rb") as file:
            head = file.read(_HEAD)
    except PermissionError as error:
        raise UnreadableVideoError(f"There is no permission to read {name}.") from error
    # for example a NUL byte in the path, a loop of links, a bad disk
    except (OSError, ValueError, RuntimeError) as error:
        raise UnreadableVideoError(f"{name} cannot be opened.") from error
    return real, _container(head, name)


def _regular_file(path: Path, name: str) -> Path:
    try:
        real = path.resolve(strict=True)
    except (FileNotFoundError, NotADirectoryError) as error:
        if path.is_symlink():
            raise UnreadableVideoError(f"{name} is a link to a file that is not there.") from error
        raise UnreadableVideoError(f"There is no file called {name}.") from error
    status = real.stat()
    if stat.S_ISDIR(status.st_mode):
        raise UnreadableVideoError(f"{name} is a folder, not a video file.")
    if not stat.S_ISREG(status.st_mode):
        raise UnreadableVideoError(f"{name} is a device or a pipe, not a video file.")
    if status.st_size == 0:
        raise UnreadableVideoError(f"{name} is empty: {OTHER}.")
    return real


def _container(head: bytes, name: str) -> str:
    """Return the FFmpeg demuxer for ``head``; raise ``UnreadableVideoError`` if there is none."""
    if head.startswith(tuple(b"ftyp" + brand for brand in _HEIC), 4):
        raise UnreadableVideoError(f"{name} is a HEIC picture: save it as JPEG or PNG.")
    for offset, mark, demuxer in _CONTAINERS:
        if head.startswith(mark, offset):
            return demuxer
    if _is_transport_stream(head):
        return "mpegts"
    if any(head.startswith(mark, offset) for offset, mark in _SOUNDS):
        raise UnreadableVideoError(f"{name} is a sound file without a picture: {OTHER}.")
    text = head.removeprefix(b"\xef\xbb\xbf").lstrip()
    if _PLAYLIST.match(text):
        raise UnreadableVideoError(
            f"{name} is a playlist that points to other files: give the video file itself."
        )
    if _is_text(text):
        raise UnreadableVideoError(f"{name} is text, not a video: {OTHER}.")
    raise UnreadableVideoError(
        f"{name} is not a video, or not in a format that can be read "
        "(MP4, MOV, MKV, WebM, AVI, MPEG, TS, WMV, FLV, Ogg, GIF, PNG, WebP, JPEG)."
    )


def _is_transport_stream(head: bytes) -> bool:
    """Return whether a file that starts with ``head`` is an MPEG transport stream.

    Each of its packets begins with a sync byte (0x47). Packets have 188 bytes, or 192 if a time
    code of 4 bytes comes before each.
    """
    for start, pace in ((0, 188), (4, 192)):
        marks = head[start::pace][: 1 + (_HEAD - start - 1) // pace]
        if len(marks) >= 2 and set(marks) == {0x47}:
            return True
    return False


def _is_text(head: bytes) -> bool:
    if b"\x00" in head:
        return False
    try:
        head[: len(head) - 3].decode("utf-8")  # leave out the end, where a character may be cut off
    except UnicodeDecodeError as error:
        return error.start >= len(head) - 7
    return True
