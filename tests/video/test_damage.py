import re

import av
import numpy as np
import pytest

from gleanvid.types import VideoError
from gleanvid.video import plan, read_video
from tests.video.clips import numbers, write_clip

GOPS = {"g": "20", "bf": "2"}
FRONT = {"movflags": "faststart"}


def all_frames(path):
    """Return all frames of an undamaged file, uint8 [n, H, W, 3]."""
    with av.open(str(path)) as container:
        frames = container.decode(video=0)
        return np.stack([frame.to_ndarray(format="rgb24") for frame in frames])


@pytest.fixture
def sound(tmp_path):
    return write_clip(tmp_path / "sound.mp4", 120, options=GOPS, muxer=FRONT)


@pytest.mark.parametrize("damage", ["cut", "zeroed", "hole", "one bit"])
def test_damaged_file_gives_only_undamaged_frames_with_a_note(sound, damage):
    truth = all_frames(sound)
    data = bytearray(sound.read_bytes())
    size = len(data)
    if damage == "cut":
        del data[int(size * 0.7) :]
    elif damage == "zeroed":
        data[int(size * 0.7) :] = bytes(size - int(size * 0.7))
    elif damage == "hole":
        data[int(size * 0.6) : int(size * 0.65)] = bytes(int(size * 0.65) - int(size * 0.6))
    else:
        data[data.index(b"mdat") + 4 + (size - data.index(b"mdat")) // 2] ^= 0x10
    sound.write_bytes(data)
    video = read_video(sound, 16, isolate=False)
    assert np.array_equal(video.frames, truth[video.indices])
    assert len(video) == 16
    assert (np.diff(video.indices) > 0).all()
    assert np.allclose(video.timestamps, video.indices / 30, atol=1e-3)
    assert video.notes
    assert "damaged" in video.notes[-1] or "cut short" in video.notes[-1]
    if damage == "hole":
        assert video.indices[-1] == 119  # frames after the damage are used


def test_note_on_a_chained_ogg_file_reports_no_more_decodable_frames_than_total_frames(tmp_path):
    path = write_clip(tmp_path / "chain.ogv", 23, "libtheora")
    path.write_bytes(path.read_bytes() * 5)
    *_, note = read_video(path, 8, isolate=False).notes
    found, total = map(int, re.findall(r"\d+", note))
    assert 23 < found <= total


def test_note_on_a_truncated_matroska_file_says_how_many_seconds_are_present(tmp_path):
    path = write_clip(tmp_path / "cut.mkv", 120, options=GOPS)
    path.write_bytes(path.read_bytes()[: int(path.stat().st_size * 0.6)])
    video = read_video(path, 16, isolate=False)
    assert numbers(video.frames) == video.indices.tolist()
    assert "of 4.0 seconds are there" in video.notes[0]


@pytest.mark.parametrize("kind", ["no index", "sound only"])
def test_video_file_without_frames_is_refused(tmp_path, backend, kind):
    path = tmp_path / "clip.mp4"
    if kind == "no index":
        data = write_clip(path, 30).read_bytes()
        path.write_bytes(data[: data.index(b"moov") - 4])
    else:
        write_sound(path)
    with pytest.raises(VideoError) as caught:
        read_video(path, backend=backend, isolate=backend == "decord")
    if backend == "pyav":
        wanted = "table of contents is missing" if kind == "no index" else "no video track"
        assert wanted in str(caught.value)


def write_sound(path):
    with av.open(str(path), "w") as container:
        stream = container.add_stream("aac", rate=8000)
        silence = np.zeros((1, 8000), np.float32)
        frame = av.AudioFrame.from_ndarray(silence, format="fltp", layout="mono")
        frame.sample_rate = 8000
        for packet in [*stream.encode(frame), *stream.encode(None)]:
            container.mux(packet)


def test_encrypted_video_file_is_refused_as_encrypted(tmp_path):
    key = {"encryption_key": "00112233445566778899aabbccddeeff"}
    scheme = {"encryption_scheme": "cenc-aes-ctr", "encryption_kid": "ff" * 16}
    path = write_clip(tmp_path / "film.mp4", 30, muxer={**scheme, **key})
    with pytest.raises(VideoError, match="encrypted"):
        read_video(path, isolate=False)


def test_file_header_that_announces_huge_frames_is_refused(tmp_path):
    path = write_clip(tmp_path / "bomb.gif", 3, codec="gif", pix_fmt="rgb8")
    data = bytearray(path.read_bytes())
    data[6:10] = (16_000).to_bytes(2, "little") * 2
    path.write_bytes(data)
    with pytest.raises(VideoError, match=r"16000 x 16000 pixels; the limit is 35 million"):
        read_video(path)


def test_frames_larger_than_the_limit_are_refused(tmp_path, monkeypatch, backend):
    path = write_clip(tmp_path / "clip.mp4", 5)
    monkeypatch.setattr(plan, "MAX_PIXELS", 96 * 144 - 1)
    with pytest.raises(VideoError, match="144 x 96 pixels; the limit"):
        read_video(path, backend=backend, isolate=False)


def test_video_longer_than_6_hours_is_refused(tmp_path):
    path = write_clip(tmp_path / "long.mkv", 3, ticks=[0, 50_000_000, 100_000_000])
    with pytest.raises(VideoError, match=r"hours; the limit is 6 hours"):
        read_video(path, isolate=False)
