from __future__ import annotations

import json
from dataclasses import dataclass
from typing import ClassVar

import pytest

from gleanvid.cli import main
from gleanvid.compressors.base import Compressor
from gleanvid.compressors.uniform import Uniform
from gleanvid.evaluation.bench.bench_length import exponent, measure, points, table
from tools import bench_clip


@dataclass(frozen=True)
class Endless(Compressor):
    name: ClassVar[str] = "endless"
    title: ClassVar[str] = "Endless"
    paper: ClassVar[str] = "a test"

    def _compress(self, tokens):
        while True:
            pass


def test_growth_exponent_is_the_slope_of_log_seconds_over_log_units():
    rows = [{"compressor": "a", "units": n, "seconds": 0.1 * n**1.5} for n in (4, 16, 64)]
    stopped = {"compressor": "a", "units": 256, "error": "over 1 s"}
    below_tick = {"compressor": "a", "units": 2, "seconds": 0.004}
    assert exponent([below_tick, *rows, stopped]) == pytest.approx(1.5)
    assert exponent(rows[:1]) is None


def test_compressor_over_the_time_limit_is_marked_and_not_run_on_longer_clips():
    methods = [Endless(0.5), Uniform(0.5)]
    *_, report = measure(methods, [4, 2], (2, 2, 8), "cpu", repeats=1, limit_s=0.1)
    found = [(row["compressor"], row["units"], "error" in row) for row in report["rows"]]
    assert found == [("endless", 2, True), ("uniform", 2, False), ("uniform", 4, False)]
    assert "| over 0.1 s |" in table(report)
    assert "Endless" not in points(report)


def test_bench_compress_writes_table_report_and_figure(tmp_path, capsys):
    words = ["bench", "compress", "--units", "4,8", "--grid", "1x4x4", "--width", "32"]
    words += ["--compressor", "vidcom2,gleanvid", "--repeats", "1", "--device", "cpu"]
    assert main([*words, "--out", str(tmp_path)]) == 0
    report = json.loads((tmp_path / "length_4x4x32.json").read_text())
    assert [row["units"] for row in report["rows"]] == [4, 4, 8, 8]
    assert all(row["extra_memory_over_features"] >= 0 for row in report["rows"])
    assert (tmp_path / "length_4x4x32.md").read_text() == capsys.readouterr().out
    assert (tmp_path / "length_4x4x32.png").stat().st_size > 5000
    assert main([*words[:3], "0", *words[4:]]) == 2


def test_bench_clip_measures_decoding_encoding_and_payload_at_every_length(tmp_path, monkeypatch):
    monkeypatch.setattr("sys.argv", ["bench_clip", "--units", "2", "4", "--out", str(tmp_path)])
    bench_clip.main()
    rows = json.loads((tmp_path / "clip_length.json").read_text())["rows"]
    assert [(row["compressor"], row["units"]) for row in rows] == [
        (stage, units) for units in (2, 4) for stage in bench_clip.STAGES
    ]
    assert rows[-1]["payload_mib"] > 0
    assert (tmp_path / "clip_length.png").stat().st_size > 5000
