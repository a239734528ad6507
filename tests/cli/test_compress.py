import json

import pytest

from gleanvid.cli import main
from tests.evaluation.fakes import FakeModel
from tests.video.clips import write_clip


@pytest.fixture
def clips(monkeypatch, tmp_path):
    monkeypatch.setattr("gleanvid.models.load_model", lambda *_, **__: FakeModel())
    folder = tmp_path / "clips"
    folder.mkdir()
    for name in ("a.mp4", "b.mp4"):
        write_clip(folder / name, num_frames=8)
    return folder


def run(clips, *options):
    out = clips.parent / "out"
    return main(["compress", str(clips), "--num-frames", "6", *options, "--out", str(out)]), out


def test_compress_command_prints_how_many_tokens_were_kept(clips, capsys):
    code, out = run(clips, "--retention-ratio", "0.5", "--novelty-history", "2")
    assert code == 0
    assert "2 of 2 clips, 54 of 108 visual tokens kept (50.0%)" in capsys.readouterr().out
    header = json.loads((out / "journal.jsonl").read_text().splitlines()[0])
    assert header["settings"]["setup"] == "gleanvid(retention_ratio=0.5, novelty_history=2)@6"


def test_unreadable_video_is_reported_and_exits_nonzero(clips, capsys):
    (clips / "bad.mp4").write_bytes(b"")
    code, out = run(clips)
    told = capsys.readouterr()
    assert code == 1 and "gleanvid: bad.mp4: VideoError:" in told.err
    assert "2 of 3 clips" in told.out and sorted(p.name for p in out.glob("*.npz")) == [
        "a.mp4.npz",
        "b.mp4.npz",
    ]


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (("--compressor", "fastv"), "compressor='fastv' decides while the model reads a question"),
        (("--retention-ratio", "2"), "retention_ratio=2.0 must be in (0, 1]"),
        (("--num-frames", "0"), "num_frames=0 must be at least 1"),
    ],
)
def test_invalid_compress_options_are_refused_before_the_model_is_loaded(
    clips, capsys, monkeypatch, options, told
):
    monkeypatch.setattr("gleanvid.models.load_model", lambda *_, **__: pytest.fail("loaded"))
    code, out = run(clips, *options)
    assert code == 2 and told in capsys.readouterr().err and not out.exists()


def test_folder_without_videos_is_refused_with_its_path(tmp_path, capsys):
    (tmp_path / "empty").mkdir()
    assert main(["compress", str(tmp_path / "empty"), "--out", str(tmp_path / "out")]) == 2
    assert "no video found in" in capsys.readouterr().err
