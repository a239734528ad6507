from pathlib import Path

import pytest

from gleanvid.video import read_video

ASSETS = Path(__file__).parents[2] / "assets"
LICENCES = ("creativecommons.org", "Apache-2.0", "MIT", "BSD 3-Clause")
CLIPS = sorted((ASSETS / "clips").glob("*.mp4"))


@pytest.mark.parametrize("path", CLIPS, ids=lambda path: path.name)
def test_example_clip_is_small_and_its_licence_is_stated(path):
    assert path.stat().st_size <= 600_000
    rows = (ASSETS / "ATTRIBUTION.md").read_text().splitlines()
    (row,) = [row for row in rows if f"`clips/{path.name}`" in row and row.startswith("|")]
    assert any(name in row for name in LICENCES)
    video = read_video(path, 8, isolate=False)
    assert len(video) == 8
    assert min(video.source_size) <= 480
    assert video.notes == ()
    assert video.frames.std(axis=(1, 2, 3)).min() > 5  # no frame is blank
