"""Peak memory against frames: what is measured, and the command."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import torch

from gleanvid.cli import main
from gleanvid.evaluation.bench.bench_memory import noise, peak_above

BENCH = ["bench", "memory", "--device", "cpu", "--frames"]
SAVED = Path(__file__).parents[3] / "results" / "cpu-2-cores" / "memory_builtin.json"


@pytest.fixture(scope="module")
def report():
    with pytest.MonkeyPatch.context() as patch:
        printed = []
        patch.setattr("builtins.print", printed.append)
        assert main([*BENCH, "4,8", "--json"]) == 0
    return json.loads(printed[0])


def test_rows_say_what_the_frames_take_and_what_an_encoding_holds(report):
    four, eight = report["rows"]
    assert [row["frames"] for row in report["rows"]] == [4, 8]
    patches, rows = 160 * 160 * 3 * 4, 320 * 4  # bytes of a frame in float32, and of a token
    assert eight["pixels_mib"] * 2**20 == 8 * patches
    assert eight["held_mib"] * 2**20 == 3 * eight["visual_tokens"] * rows  # 2 DeepStack levels
    assert eight["visual_tokens"] == 2 * four["visual_tokens"]


def test_a_saved_report_holds_each_vision_row_once_and_grows_as_the_frames():
    rows = json.loads(SAVED.read_text())["rows"]
    for row in rows:
        assert row["held_mib"] * 2**20 == 3 * row["visual_tokens"] * 320 * 4
        assert row["encode_mib"] > row["pixels_mib"]
    last, before = rows[-1], rows[-2]
    doubled = last["frames"] / before["frames"]
    for name in ("encode_mib", "answer_all_mib", "answer_compressed_mib"):
        assert last[name] < 1.1 * doubled * before[name]


def test_the_peak_is_that_of_the_call_alone():
    if not Path("/proc/self/clear_refs").exists():
        pytest.skip("resident pages are read as Linux tells them")
    size = (
        2**24
    )  # 64 MiB: the C library takes more than 32 from the system, never from what it kept
    before = torch.ones(size)
    peak, kept = peak_above(torch.device("cpu"), lambda: len(torch.ones(size)) + len(before))
    assert kept == 2 * size
    assert 63 < peak < 68  # MiB: the second 64, not the first


def test_noise_repeats_nothing():
    frames = noise(6).frames
    assert len({frame.tobytes() for frame in frames}) == len(frames)


def test_the_command_prints_a_line_a_row(capsys):
    assert main([*BENCH, "2,4", "--compressor", "uniform"]) == 0
    lines = [line for line in capsys.readouterr().out.splitlines() if line.startswith("| ")]
    assert [line.split("|")[1].strip() for line in lines] == ["frames", "2", "4"]
    assert len({line.count("|") for line in lines}) == 1 and "Uniform at 25%" in lines[0]
    assert main([*BENCH, "0"]) == 2
