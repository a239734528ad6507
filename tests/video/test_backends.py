import numpy as np
import pytest

from gleanvid.types import VideoError
from gleanvid.video import read_video
from tests.video.clips import numbers, write_clip

# presentation times in ms
UNEVEN = np.random.default_rng(1).integers(20, 200, 60).cumsum().tolist()


@pytest.mark.parametrize("backend", ["torchcodec", "decord", "opencv"], indirect=True)
@pytest.mark.parametrize(
    ("name", "making"),
    [
        ("gops.mp4", {"options": {"g": "20", "bf": "3"}}),
        ("uneven.mp4", {"ticks": UNEVEN}),
        ("odd.mkv", {"size": (97, 145), "pix_fmt": "yuv444p"}),
        ("mpeg4.avi", {"codec": "mpeg4", "options": {"b": "1000000"}}),
        ("phone.mp4", {"rotation": 90, "turns": 1}),
        ("two.mp4", {"num_frames": 2}),
    ],
)
def test_every_decoder_gives_the_same_video_as_pyav(tmp_path, backend, name, making):
    path = write_clip(tmp_path / name, **{"num_frames": 60, **making})
    ours, theirs = (
        read_video(path, 11, backend=which, isolate=False) for which in ("pyav", backend)
    )
    assert numbers(theirs.frames) == ours.indices.tolist() == theirs.indices.tolist()
    assert np.allclose(ours.timestamps, theirs.timestamps, atol=0.002)
    assert theirs.fps == pytest.approx(ours.fps, rel=0.01)
    for field in ("total_frames", "source_size", "name", "notes"):
        assert getattr(ours, field) == getattr(theirs, field)
    assert theirs.backend == backend
    assert np.abs(ours.frames.astype(int) - theirs.frames).mean() < 3


@pytest.mark.parametrize(("max_side", "size"), [(72, (48, 72)), (73, (49, 73)), (4000, (96, 144))])
def test_max_side_scales_down_and_never_up(tmp_path, backend, max_side, size):
    path = write_clip(tmp_path / "clip.mp4", 30)
    video = read_video(path, 5, backend=backend, max_side=max_side, isolate=False)
    assert video.frames.shape == (5, *size, 3)
    assert video.source_size == (96, 144)
    assert numbers(video.frames) == video.indices.tolist()


def test_time_span_of_a_file_is_sampled_like_a_separate_file(tmp_path, backend):
    path = write_clip(tmp_path / "clip.mp4", num_frames=60, options={"g": "20"})
    video = read_video(path, 5, isolate=False, backend=backend, part=(0.5, 1.5))
    assert numbers(video.frames) == [15, 23, 30, 37, 45]
    assert video.indices.tolist() == [0, 8, 15, 22, 30]
    assert video.timestamps[0] == 0
    assert video.timestamps[-1] == pytest.approx(1.0, abs=1e-3)
    assert video.total_frames == 31
    whole = read_video(path, 60, isolate=False, backend=backend, part=(0.0, 99.0))
    assert numbers(whole.frames) == list(range(60))


def test_frames_of_a_time_span_keep_their_times_and_numbers_in_the_file(tmp_path, backend):
    path = write_clip(tmp_path / "clip.mp4", num_frames=60, options={"g": "20"})
    video = read_video(path, 5, isolate=False, backend=backend, start=0.5, end=1.5)
    assert numbers(video.frames) == video.indices.tolist() == [15, 23, 30, 37, 45]
    assert video.timestamps == pytest.approx(video.indices / 30, abs=2e-3)
    assert (video.total_frames, video.notes[-1]) == (
        31,
        "Only frames between 0.5 and 1.5 seconds are used.",
    )
    rest = read_video(path, 60, isolate=False, backend=backend, start=1.5)
    assert rest.indices.tolist() == list(range(45, 60))


def test_frames_read_with_decord_equal_those_of_decord_s_get_batch(tmp_path):
    decord = pytest.importorskip("decord")
    path = write_clip(tmp_path / "clip.mp4", 60, options={"g": "20"})
    video = read_video(path, 9, backend="decord", isolate=False)
    reader = decord.VideoReader(str(path), num_threads=1)
    assert np.array_equal(video.frames, reader.get_batch(video.indices.tolist()).asnumpy())


@pytest.mark.parametrize(
    ("name", "codec"),
    [("a.ts", "mpeg2video"), ("a.mpg", "mpeg2video"), ("a.wmv", "wmv2"), ("a.mp4", "libsvtav1")],
)
def test_decord_is_refused_for_files_that_it_decodes_wrongly(tmp_path, name, codec):
    pytest.importorskip("decord")
    path = write_clip(tmp_path / name, 10, codec=codec)
    with pytest.raises(VideoError, match="backend='pyav'"):
        read_video(path, backend="decord")


def test_opencv_stops_at_damaged_data_with_a_note(tmp_path):
    pytest.importorskip("cv2")
    muxer = {"movflags": "faststart"}
    path = write_clip(tmp_path / "cut.mp4", 120, options={"g": "20"}, muxer=muxer)
    path.write_bytes(path.read_bytes()[: int(path.stat().st_size * 0.7)])
    video = read_video(path, 16, backend="opencv", isolate=False)
    assert numbers(video.frames) == video.indices.tolist()
    assert video.total_frames < 120
    assert "the file states 120" in video.notes[0]
