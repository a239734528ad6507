"""Clips in many containers and codecs: the sandbox reads the same frames as ffmpeg."""

import shutil
import struct
import subprocess
import sys
from importlib.machinery import EXTENSION_SUFFIXES
from pathlib import Path

import av
import numpy as np
import pytest

from gleanvid.video import read_video
from gleanvid.video.isolation import spare

pytestmark = pytest.mark.skipif(shutil.which("ffmpeg") is None, reason="needs ffmpeg")

BRIGHTNESS = (0.299, 0.587, 0.114)  # weights of red, green and blue in the brightness
SQUARE = "scale=iw*max(sar\\,1):ih/min(sar\\,1):flags=bicubic"  # pixels as wide as high
FAR = 1.5  # largest mean difference in brightness (0 to 255) between our frame and ffmpeg's
X264 = "-c:v libx264 -preset ultrafast"
X265 = "-c:v libx265 -preset ultrafast -x265-params log-level=none"
VP9 = "-c:v libvpx-vp9 -deadline realtime"
SOUND = "-f lavfi -i sine=duration=1"
# Those that test_reader.py does not have; each may load further modules in the sandbox.
CLIPS = {  # file name -> options of ffmpeg; %s stands for the folder of subtitles and chapters
    "mov_text.mp4": f"-i %s/a.srt {X264} -c:s mov_text",
    "chapters.mp4": f"-i %s/chapters.txt -map_metadata 1 {X264}",
    "cover.mp4": f"-i %s/cover.png -map 0 -map 1 {X264} -c:v:1 png -disposition:v:1 attached_pic",
    "two_tracks.mp4": f"-map 0 -map 0 {X264} -s:v:1 64x48",
    "latin1.mp4": f"{X264} -metadata title=Caf\udce9",
    "interlaced.mp4": f"{X264} -flags +ildct+ilme -x264opts tff=1",
    "hdr.mp4": f"{X265} -pix_fmt yuv420p10le -color_primaries bt2020 -color_trc smpte2084"
    " -colorspace bt2020nc",
    "yuv444.mp4": f"{X264} -pix_fmt yuv444p",
    "full_range.mp4": f"{X264} -pix_fmt yuvj420p",
    "prores.mov": "-c:v prores_ks",
    "mjpeg.mov": "-c:v mjpeg",
    "animation.mov": "-c:v qtrle",
    "phone.3gp": f"{SOUND} -s 176x144 -c:v h263 -c:a aac",
    "srt.mkv": f"-i %s/a.srt {X264} -c:s srt",
    "bitmap_subtitles.mkv": f"-i %s/a.sup -map 0 -map 1 {X264} -c:s copy",
    "attachment.mkv": f"{X264} -attach %s/cover.png -metadata:s:t mimetype=image/png",
    "ffv1.mkv": "-c:v ffv1",
    "alpha.webm": f"{VP9} -pix_fmt yuva420p -auto-alt-ref 0",
    "vtt.webm": f"-i %s/a.srt {VP9} -c:s webvtt",
    "raw.avi": "-c:v rawvideo -pix_fmt bgr24",
    "msmpeg4.avi": "-c:v msmpeg4v2",
    "h264.flv": f"{SOUND} {X264} -c:a aac",
    "data.ts": f"-f data -i %s/a.srt -map 0 -map 1 {X264} -c:d copy",
    "mpeg2.m2v": "-vf settb=1/25,setpts=N -r 25 -c:v mpeg2video",
    "theora.ogv": f"{SOUND} -c:v libtheora -c:a libvorbis",
}
SRT = "1\n00:00:00,000 --> 00:00:01,000\nA caption\n"
CHAPTERS = ";FFMETADATA1\n[CHAPTER]\nTIMEBASE=1/1000\nSTART=0\nEND=500\ntitle=One\n"


def ffmpeg(*words):
    command = ["ffmpeg", "-nostdin", "-v", "error", "-y", "-threads", "1", *words]
    return subprocess.run(command, check=True, capture_output=True, timeout=60).stdout


def subtitle_pictures():
    """Return the bytes of a Blu-ray subtitle file: an empty screen and its end marker."""
    screen = struct.pack(">HHBHBBBB", 128, 96, 16, 0, 128, 0, 0, 0)
    parts = ((0x16, screen), (0x80, b""))
    return b"".join(b"PG" + struct.pack(">IIBH", 0, 0, k, len(part)) + part for k, part in parts)


@pytest.fixture(scope="module")
def inputs(tmp_path_factory):
    folder = tmp_path_factory.mktemp("inputs")
    (folder / "a.srt").write_text(SRT)
    (folder / "a.sup").write_bytes(subtitle_pictures())
    (folder / "chapters.txt").write_text(CHAPTERS)
    ffmpeg("-f", "lavfi", "-i", "color=red:size=32x32", "-frames:v", "1", folder / "cover.png")
    return folder


def write(name, folder, inputs):
    """Write the clip ``name`` of ``CLIPS``: 8 frames that all differ."""
    options = CLIPS[name].replace("%s", str(inputs)).split()
    path = folder / name
    ffmpeg("-f", "lavfi", "-i", "testsrc2=size=128x96:rate=8:duration=1", *options, path)
    return path


@pytest.fixture(scope="module", autouse=True)
def started():
    """Start a spare decoding process, as the server does, so that tests need not wait for one."""
    spare.KEPT.keep()


def frames_of_ffmpeg(path, shape):
    every = ("-i", path, "-fps_mode", "passthrough", "-vf", SQUARE)
    raw = ffmpeg(*every, "-f", "rawvideo", "-pix_fmt", "rgb24", "-")
    return np.frombuffer(raw, np.uint8).reshape(-1, *shape)


@pytest.mark.parametrize("name", CLIPS)
def test_decoded_frames_equal_those_of_ffmpeg(name, tmp_path, inputs):
    if name == "hdr.mp4" and int(av.__version__.partition(".")[0]) < 17:
        pytest.skip("PyAV before 17 takes the colours of BT.2020 for those of BT.601")
    path = write(name, tmp_path, inputs)
    video = read_video(path, 64)
    expected = frames_of_ffmpeg(path, video.frames.shape[1:]) @ BRIGHTNESS
    found = video.frames @ BRIGHTNESS
    assert len(found) == len(expected) == 8
    assert np.all(np.diff(video.timestamps) > 0)
    assert np.abs(found - expected).mean(axis=(1, 2)).max() < FAR
    # Neighbouring frames differ by over three times the tolerance: a wrong frame would be found.
    assert np.abs(np.diff(expected, axis=0)).mean(axis=(1, 2)).min() > 3 * FAR


def test_every_module_of_pyav_is_imported_before_the_sandbox_forbids_imports():
    """Inside the sandbox nothing can be imported, so a module that loads on demand would fail."""
    root = Path(av.__file__).parent
    modules = {
        ".".join(["av", *path.relative_to(root).with_name(path.name.partition(".")[0]).parts])
        for path in root.rglob("*")
        if path.name.endswith(tuple(EXTENSION_SUFFIXES))
    }
    code = "import sys; from gleanvid.video import decoders, plan; "
    code += "decoders.load(plan.Request('', '', 'mov', 1, 'pyav')); print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert len(modules) > 20 and modules <= set(loaded.stdout.split())
