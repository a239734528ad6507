"""Texts that a script of the page and Python both write, about the same run."""

import json
import subprocess
from shutil import which
from types import SimpleNamespace

import pytest

from components.export.exports import file_name
from components.places import ROOT
from gleanvid.compressors.by_hand import by_hand
from gleanvid.plots.labels import label_of, percent

RATIOS = [kept / total for total in (1600, 800, 224, 97) for kept in range(1, total + 1)]
WRITE = """
const { ratios, files } = JSON.parse(process.argv[1]);
console.log(JSON.stringify([ratios.map(percent), files.map((words) => fileName(...words))]));
"""


@pytest.mark.skipif(which("node") is None, reason="needs node")
def test_scripts_and_python_write_percentages_and_file_names_alike():
    edited = by_hand(range(118), (16, 10, 10)).settings()
    assert label_of(edited) == "Edited by hand 7.38 %"
    made = [{"name": "gleanvid", "retention_ratio": 0.1, "tau": 12.0}, edited, {"name": "full"}]
    runs = [
        SimpleNamespace(compressor=settings, video=SimpleNamespace(name=name))
        for settings in made
        for name in ("glimpse_3.mp4", ".mes vidéos (2).mov")
    ]
    files = [(run.video.name, label_of(run.compressor), "frames.png") for run in runs]
    script = (ROOT / "assets" / "viewer" / "dom.js").read_text("utf-8") + WRITE
    given = json.dumps({"ratios": RATIOS, "files": files})
    command = ["node", "--input-type=module", "--eval", script, given]
    written = json.loads(subprocess.run(command, capture_output=True, check=True, text=True).stdout)
    assert written == [list(map(percent, RATIOS)), [file_name(run, "frames.png") for run in runs]]
    assert written[1][0] == "glimpse_3-gleanvid-10pct-tau-12.0-frames.png"
