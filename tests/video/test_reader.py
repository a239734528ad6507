from fractions import Fraction

import av
import numpy as np
import pytest

from gleanvid.types import Video, VideoError
from gleanvid.video import read_video
from tests.video.clips import numbers, write_clip

OPEN_GOP = {"x264-params": "keyint=20:open-gop=1:bframes=3:scenecut=0"}
B_FRAMES = {"g": "15", "bf": "2", "b": "2000000"}
VP9 = {"deadline": "realtime", "cpu-used": "8", "lag-in-frames": "10", "b": "1000000", "g": "60"}
# presentation times in ms
UNEVEN = np.random.default_rng(0).integers(20, 200, 90).cumsum().tolist()

FILES = {
    "long_gop.mp4": {"options": {"g": "250", "bf": "3"}},
    "gops.mp4": {"options": {"g": "20", "bf": "3"}},
    "open_gop.mp4": {"options": OPEN_GOP},
    "open_gop.mkv": {"options": OPEN_GOP},
    "refresh.mp4": {"options": {"x264-params": "keyint=20:intra-refresh=1:scenecut=0"}},
    "fragments.mp4": {"muxer": {"movflags": "frag_keyframe+empty_moov"}},
    "open_gop_hevc.mp4": {
        "codec": "libx265",
        "options": {"x265-params": "keyint=20:log-level=none"},
    },
    "vp9.webm": {"codec": "libvpx-vp9", "options": VP9},
    "vp8.webm": {"codec": "libvpx", "options": {"b": "1000000", "deadline": "realtime"}},
    "av1.mp4": {"codec": "libsvtav1", "options": {"preset": "12"}, "num_frames": 40},
    "mpeg4.avi": {"codec": "mpeg4", "options": {"g": "20", "b": "1000000"}},
    "mpeg4_b.avi": {"codec": "mpeg4", "options": {**B_FRAMES}},
    "mjpeg.avi": {"codec": "mjpeg", "pix_fmt": "yuvj420p"},
    "h264.ts": {"options": {"g": "20", "bf": "3"}},
    "mpeg2.ts": {"codec": "mpeg2video", "options": B_FRAMES},
    "mpeg2.mpg": {"codec": "mpeg2video", "options": B_FRAMES},
    "windows.wmv": {"codec": "wmv2", "options": {"b": "1000000"}},
    "flash.flv": {"codec": "flv", "options": {"b": "1000000"}},
    "animation.gif": {"codec": "gif", "pix_fmt": "rgb8", "num_frames": 40},
    "odd.mkv": {"size": (97, 145), "pix_fmt": "yuv444p"},
    "uneven.mp4": {"ticks": UNEVEN, "options": {"bf": "2"}},
    "uneven.mkv": {"ticks": UNEVEN, "options": {"bf": "2"}},
}


def check(video: Video, total: int, num_frames: int) -> None:
    expected = np.linspace(0, total - 1, min(num_frames, total)).round().astype(int).tolist()
    assert video.indices.tolist() == expected
    assert numbers(video.frames) == expected
    assert video.total_frames == total


@pytest.mark.parametrize("name", FILES)
def test_reader_returns_exactly_the_planned_frames(tmp_path, name):
    making = {"num_frames": 90, **FILES[name]}
    path = write_clip(tmp_path / name, **making)
    video = read_video(path, 16, isolate=False)
    check(video, making["num_frames"], 16)
    assert video.source_size == video.frames.shape[1:3] == making.get("size", (96, 144))
    assert video.notes == ()
    assert (video.name, video.backend) == (name, "pyav")
    ticks = np.array(making.get("ticks", np.arange(making["num_frames"]) * 1000 / 30))
    truth = (ticks - ticks[0])[video.indices] / 1000
    # Times in a GIF are whole hundredths of a second.
    assert np.allclose(video.timestamps, truth, atol=0.006)
    assert video.fps == pytest.approx((len(ticks) - 1) * 1000 / (ticks[-1] - ticks[0]), rel=0.005)


@pytest.mark.parametrize(("rotation", "turns"), [(90, 1), (180, 2), (-90, 3)])
def test_rotated_phone_videos_are_read_upright(tmp_path, rotation, turns):
    path = write_clip(tmp_path / "phone.mp4", 30, rotation=rotation, turns=turns)
    shown = (96, 144) if turns == 2 else (144, 96)
    video = read_video(path, 8, isolate=False)
    check(video, 30, 8)
    assert video.frames.shape[1:3] == video.source_size == shown
    small = read_video(path, 8, max_side=72, isolate=False)
    check(small, 30, 8)
    assert small.frames.shape[1:3] == (shown[0] // 2, shown[1] // 2)
    assert small.source_size == shown


def test_frames_hidden_by_an_edit_list_are_not_counted(tmp_path):
    whole = write_clip(tmp_path / "whole.mp4", 90, options={"g": "30", "bf": "2"})
    with av.open(str(whole)) as source, av.open(str(tmp_path / "cut.mp4"), "w") as cut:
        track = source.streams.video[0]
        copy = cut.add_stream_from_template(track)
        shift = round(Fraction(20, 30) / track.time_base)
        for packet in source.demux(track):
            if packet.dts is not None:
                packet.pts, packet.dts = packet.pts - shift, packet.dts - shift
                packet.stream = copy
                cut.mux(packet)
    video = read_video(tmp_path / "cut.mp4", 12, isolate=False)
    assert video.total_frames == 70
    assert numbers(video.frames) == (video.indices + 20).tolist()
    assert video.timestamps[0] == 0


@pytest.mark.parametrize("total", [1, 2, 7])
def test_clip_with_too_few_frames_gives_all_of_them_with_a_note(tmp_path, total):
    video = read_video(write_clip(tmp_path / "short.mp4", total), 32, isolate=False)
    check(video, total, 32)
    frames = "1 frame" if total == 1 else f"{total} frames"
    assert video.notes == (f"The clip has {frames}, fewer than the 32 asked for.",)
    assert video.duration == pytest.approx(total / 30, rel=0.01)
    one = read_video(tmp_path / "short.mp4", 1, isolate=False)
    assert numbers(one.frames) == [0] and one.notes == ()


def test_special_characters_in_a_file_name_are_not_interpreted(tmp_path):
    for name in ("a b'c\"d.mp4", "映像.mp4", "-i.mp4", "50%d.mp4", "concat:x.mp4"):
        path = write_clip(tmp_path / "plain.mp4", 10).rename(tmp_path / name)
        check(read_video(path, 3), 10, 3)


@pytest.mark.parametrize(
    ("setting", "value"),
    [
        ("num_frames", 0),
        ("num_frames", 2.5),
        ("num_frames", True),
        ("backend", "vlc"),
        ("max_side", 0),
        ("max_side", "big"),
        ("timeout_s", 0),
        ("timeout_s", float("nan")),
        ("part", (1.0, 0.5)),
        ("part", (-1.0, 2.0)),
        ("part", (0.0, float("nan"))),
        ("start", -1.0),
        ("end", 0.0),
        ("end", float("nan")),
    ],
)
def test_error_for_a_reader_setting_out_of_range_names_the_setting(setting, value):
    with pytest.raises(ValueError, match=setting) as caught:
        read_video("none.mp4", **{setting: value})
    assert not isinstance(caught.value, VideoError)
    assert "must be" in str(caught.value) and str(value) in str(caught.value)


def test_frame_indices_rounded_down_match_the_llava_models_of_lmms_eval(tmp_path):
    path = write_clip(tmp_path / "clip.mp4", num_frames=60)
    video = read_video(path, 8, rounding="down")  # ``rounding`` must reach the decoder process
    assert numbers(video.frames) == np.linspace(0, 59, 8, dtype=int).tolist()


def test_time_span_beyond_the_end_is_refused_with_the_clip_s_length(tmp_path):
    path = write_clip(tmp_path / "clip.mp4", num_frames=30)
    with pytest.raises(VideoError, match="no frame between 5 and 6 seconds; the video lasts 1"):
        read_video(path, part=(5, 6))


@pytest.mark.parametrize("isolate", [True, False])
def test_progress_counts_frames_one_by_one_from_0_to_the_total(tmp_path, isolate):
    clip, counts = write_clip(tmp_path / "clip.mp4"), []
    read_video(clip, 20, isolate=isolate, progress=lambda *count: counts.append(count))
    assert counts == [(done, 20) for done in range(21)]
