"""Kinds of files that readers get wrong, made with PyAV from frames that show their number."""

import struct
from fractions import Fraction
from pathlib import Path

import av
import numpy as np
import pytest
from PIL import Image

from gleanvid.types import VideoError
from gleanvid.video import read_video
from tests.video.clips import numbers, picture, write_clip

B_FRAMES = {"g": "15", "bf": "2", "b": "2000000"}
VP8 = {"codec": "libvpx", "options": {"b": "1000000", "deadline": "realtime"}}
MPEG2 = {"codec": "mpeg2video", "options": B_FRAMES}
FLV = {"codec": "flv", "options": {"b": "1000000"}}
X265 = {"codec": "libx265", "options": {"x265-params": "keyint=15:log-level=none"}}
X264 = {"options": B_FRAMES}
UNEVEN = [35 * k + 9 * (k % 4) for k in range(40)]
LATE = [30_000_000 + 33 * k for k in range(40)]  # presentation times in ms


def clip(folder: Path, name: str, num_frames: int = 40, **making) -> Path:
    return write_clip(folder / name, num_frames, **{**X264, **making})


def joined(folder: Path, name: str, *parts: dict) -> Path:
    """Write recordings one after the other into one file; the numbers of each begin at 0."""
    paths = [clip(folder, f"{k}_{name}", **part) for k, part in enumerate(parts)]
    (folder / name).write_bytes(b"".join(path.read_bytes() for path in paths))
    return folder / name


def patched(path: Path, mark: bytes, offset: int, content: bytes) -> Path:
    """Overwrite bytes of a file, ``offset`` bytes after ``mark`` begins."""
    data = bytearray(path.read_bytes())
    start = data.index(mark) + offset
    data[start : start + len(content)] = content
    path.write_bytes(data)
    return path


def with_bad_messages(folder: Path, name: str, message: bytes, **making) -> Path:
    """Put a supplemental message before every frame that is shorter than it says."""
    source = clip(folder, "sound.ts", **making)
    with av.open(str(source)) as read, av.open(str(folder / name), "w") as written:
        track = read.streams.video[0]
        copy = written.add_stream_from_template(track)
        for packet in read.demux(track):
            if packet.size:
                bad = av.Packet(message + bytes(packet))
                bad.pts, bad.dts, bad.time_base = packet.pts, packet.dts, packet.time_base
                bad.is_keyframe, bad.stream = packet.is_keyframe, copy
                written.mux(bad)
    return folder / name


def paletted(folder: Path, name: str, codec: str, pix_fmt: str) -> Path:
    """Write frames of grey values, which the file stores as numbers of its palette."""
    with av.open(str(folder / name), "w") as container:
        stream = container.add_stream(codec, rate=30)
        stream.height, stream.width, stream.pix_fmt = 96, 144, pix_fmt
        for number in range(40):
            frame = av.VideoFrame.from_ndarray(picture(number)[..., 0], format="gray")
            frame = frame.reformat(format=pix_fmt)
            frame.pts, frame.time_base = number, Fraction(1, 30)
            container.mux(stream.encode(frame))
        container.mux(stream.encode(None))
    return folder / name


def animated(folder: Path, name: str, form: str, **saving) -> Path:
    frames = [Image.fromarray(picture(k)) for k in range(40)]
    saving = {"save_all": True, "append_images": frames[1:], "duration": 33, **saving}
    frames[0].save(folder / name, form, **saving)
    return folder / name


def lying_header(folder: Path) -> Path:
    hours = struct.pack(">d", 40_000.0)
    return patched(clip(folder, "hours.flv", **FLV), b"duration", 9, hours)


ORDER = list(range(40))
TWICE = [*range(40), *range(40)]
BAD_H264 = b"\0\0\0\1\x06\x05\xc8" + bytes(range(1, 21))  # says 200 bytes, has 20
BAD_HEVC = b"\0\0\0\1\x4e\x01\x05\xc8" + bytes(range(1, 21))
KINDS = {  # name -> maker of the file, numbers of its frames in the order in which they are shown
    "AVI has no presentation times": (lambda at: clip(at, "a.avi"), ORDER),
    "MP4 without presentation times": (
        lambda at: patched(patched(clip(at, "a.mp4"), b"ctts", 0, b"free"), b"edts", 0, b"free"),
        ORDER,
    ),
    "MPEG-2 in AVI": (lambda at: clip(at, "a.avi", **MPEG2), ORDER),
    "MPEG-4 in AVI": (lambda at: clip(at, "a.avi", codec="mpeg4"), ORDER),
    "grey as palette": (lambda at: paletted(at, "a.mov", "qtrle", "gray"), ORDER),
    "raw grey as palette": (lambda at: paletted(at, "a.mov", "rawvideo", "gray"), ORDER),
    "raw grey in AVI": (lambda at: paletted(at, "a.avi", "rawvideo", "gray"), ORDER),
    "joined TS": (lambda at: joined(at, "a.ts", {}, {}), TWICE),
    "joined TS, other rate": (lambda at: joined(at, "a.ts", {"ticks": UNEVEN}, {}), TWICE),
    "joined TS, hours between": (lambda at: joined(at, "a.ts", {}, {"ticks": LATE}), TWICE),
    "joined TS, back by hours": (lambda at: joined(at, "a.ts", {"ticks": LATE}, {}), TWICE),
    "joined HEVC": (lambda at: joined(at, "a.ts", X265, X265), TWICE),
    "joined DVD": (lambda at: joined(at, "a.mpg", MPEG2, MPEG2), TWICE),
    "joined WebM": (lambda at: joined(at, "a.webm", VP8, VP8), TWICE),
    "begins late, MKV": (lambda at: clip(at, "a.mkv", ticks=LATE), ORDER),
    "begins late, WebM": (lambda at: clip(at, "a.webm", **VP8, ticks=LATE), ORDER),
    "begins late, TS": (lambda at: clip(at, "a.ts", ticks=LATE), ORDER),
    "clock of TS turns over": (
        lambda at: clip(at, "a.ts", ticks=[95_442_700 + 33 * k for k in ORDER]),
        ORDER,
    ),
    "header states hours": (lying_header, ORDER),
    "bad messages in H.264, MKV": (lambda at: with_bad_messages(at, "a.mkv", BAD_H264), ORDER),
    "bad messages in H.264, TS": (lambda at: with_bad_messages(at, "a.ts", BAD_H264), ORDER),
    "bad messages in HEVC": (lambda at: with_bad_messages(at, "a.mkv", BAD_HEVC, **X265), ORDER),
    "GIF called MP4": (lambda at: animated(at, "a.mp4", "GIF"), ORDER),
    "WebP": (lambda at: animated(at, "a.webp", "WEBP", lossless=True), ORDER),
    "PNG": (lambda at: animated(at, "a.png", "PNG"), ORDER),
    "PNG with a cover": (lambda at: animated(at, "a.png", "PNG", default_image=True), ORDER[1:]),
    "AVIF called JPEG": (lambda at: animated(at, "a.jpg", "AVIF"), ORDER),
    "pages of a TIFF": (lambda at: animated(at, "a.tiff", "TIFF"), [0]),
}


@pytest.mark.parametrize("kind", KINDS)
def test_frames_come_in_the_order_in_which_they_are_shown(kind, tmp_path):
    make, order = KINDS[kind]
    path = make(tmp_path)
    video = read_video(path, 9, isolate=False)
    assert video.total_frames == len(order)
    assert numbers(video.frames) == [order[index] for index in video.indices]
    assert (np.diff(video.timestamps) > 0).all()
    if len(order) > 1:
        assert video.duration == pytest.approx(len(order) / 30, rel=0.11)
    assert not any("damaged" in note for note in video.notes)


@pytest.mark.parametrize("matrix", [
    (1, 0, 0, 1), (-1, 0, 0, 1), (1, 0, 0, -1), (-1, 0, 0, -1),
    (0, 1, 1, 0), (0, 1, -1, 0), (0, -1, 1, 0), (0, -1, -1, 0),
])  # fmt: skip
@pytest.mark.parametrize("max_side", [None, 72])
def test_turned_and_mirrored_clips_are_shown_as_players_do(matrix, max_side, tmp_path):
    """The matrix sends the place (x, y) of a stored pixel to (a x + c y, b x + d y)."""
    a, b, c, d = matrix
    swapped = a == 0
    upright = picture(5, *((144, 96) if swapped else (96, 144)))
    stored = upright[:: -1 if (b or d) < 0 else 1, :: -1 if (a or c) < 0 else 1]
    stored = np.ascontiguousarray(stored.swapaxes(0, 1) if swapped else stored)
    with av.open(str(tmp_path / "a.mp4"), "w") as container:
        stream = container.add_stream("libx264", rate=30)
        stream.height, stream.width, stream.pix_fmt = 96, 144, "yuv420p"
        container.mux(stream.encode(av.VideoFrame.from_ndarray(stored)))
        container.mux(stream.encode(None))
    words = struct.pack(">5i", *(65536 * number for number in (a, b, 0, c, d)))
    path = patched(tmp_path / "a.mp4", b"tkhd", 44, words)
    video = read_video(path, 1, isolate=False, max_side=max_side)
    assert numbers(video.frames) == [5]
    assert video.source_size == upright.shape[:2]
    step = 1 if max_side is None else 2
    assert np.abs(video.frames[0].astype(int) - upright[::step, ::step]).mean() < 40 / 3 * step


@pytest.mark.parametrize("name", ["a.mp4", "a.mkv", "a.ts"])
@pytest.mark.parametrize(("pixel", "size"), [((2, 1), (96, 288)), ((1, 2), (192, 144))])
def test_stored_pixels_that_are_not_square_are_stretched(name, pixel, size, tmp_path):
    with av.open(str(tmp_path / name), "w") as container:
        stream = container.add_stream("libx264", rate=30)
        stream.height, stream.width, stream.pix_fmt = 96, 144, "yuv420p"
        stream.codec_context.sample_aspect_ratio = Fraction(*pixel)
        for number in range(3):
            container.mux(stream.encode(av.VideoFrame.from_ndarray(picture(number))))
        container.mux(stream.encode(None))
    video = read_video(tmp_path / name, 3, isolate=False)
    assert video.frames.shape[1:3] == video.source_size == size
    assert numbers(video.frames) == [0, 1, 2]


@pytest.mark.parametrize(("name", "making"), [("a.ts", {}), ("a.mpg", MPEG2)])
@pytest.mark.parametrize("sizes", [[(48, 72), (96, 144), (192, 288)], [(192, 288), (48, 72)]])
def test_frames_that_change_their_size_are_read_at_the_largest_with_a_note(
    name, making, sizes, tmp_path
):
    path = joined(tmp_path, name, *({**making, "size": size, "num_frames": 20} for size in sizes))
    video = read_video(path, 8, isolate=False)
    assert video.frames.shape[1:3] == video.source_size == (192, 288)
    assert numbers(video.frames)[0] == 0 and numbers(video.frames)[-1] == 19
    assert "each is fitted into 288 x 192 pixels" in video.notes[0]
    small = read_video(path, 8, isolate=False, max_side=144)
    assert small.frames.shape[1:3] == (96, 144) and small.source_size == (192, 288)


def test_clip_turned_while_it_was_filmed_keeps_its_shapes_between_black_bars(tmp_path):
    lying, standing = {"size": (96, 144)}, {"size": (144, 96)}
    video = read_video(joined(tmp_path, "a.ts", lying, standing), 8, isolate=False)
    assert video.frames.shape[1:3] == (144, 96)
    band = slice((144 - 64) // 2, (144 + 64) // 2)
    assert numbers(video.frames[:4, band]) == [0, 11, 23, 34]
    assert not video.frames[:4, : band.start].any() and not video.frames[:4, band.stop :].any()
    assert numbers(video.frames[4:]) == [5, 16, 28, 39]


@pytest.mark.parametrize("form", ["JPEG", "PNG", "WEBP", "TIFF"])
def test_still_picture_is_a_clip_of_one_frame_turned_upright(form, tmp_path):
    image, exif = Image.fromarray(picture(5)), Image.Exif()
    exif[0x112] = 5  # mirrored along the diagonal
    image.transpose(Image.Transpose.TRANSPOSE).save(tmp_path / "a.mp4", form, exif=exif)
    video = read_video(tmp_path / "a.mp4", 8)
    assert numbers(video.frames) == [5] and video.source_size == (96, 144)


@pytest.mark.parametrize("form", ["PNG", "WEBP"])
def test_damaged_animated_picture_is_refused(form, tmp_path):
    data = animated(tmp_path, "whole", form).read_bytes()
    (tmp_path / "a.mp4").write_bytes(data[: len(data) // 2])
    with pytest.raises(VideoError, match="as a picture; it may be damaged"):
        read_video(tmp_path / "a.mp4")


@pytest.mark.parametrize("parts", [(FLV, FLV), ({}, X265 | {"muxer": {"mpegts_start_pid": "512"}})])
def test_joined_recording_that_is_not_read_is_noted(parts, tmp_path):
    name = "a.flv" if parts[0] is FLV else "a.ts"
    video = read_video(joined(tmp_path, name, *parts), 4, isolate=False)
    assert "another recording may follow" in " ".join(video.notes)


@pytest.mark.parametrize(
    "kind", ["grey as palette", "joined WebM", "AVI has no presentation times"]
)
def test_decord_is_refused_for_kinds_that_it_reads_wrongly(kind, tmp_path):
    pytest.importorskip("decord")
    with pytest.raises(VideoError, match=r"decord does not read .*backend='pyav'"):
        read_video(KINDS[kind][0](tmp_path), 4, backend="decord", isolate=False)
