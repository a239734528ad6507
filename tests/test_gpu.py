"""``results/gpu.sh``, which is written for a machine with a GPU, is rehearsed on the CPU."""

import json
import re
import subprocess
import sys
from pathlib import Path

from tools import gpu

SCRIPT = Path(__file__).parents[1] / "results" / "gpu.sh"


def test_dry_run_names_all_steps_takes_at_most_8_minutes_and_writes_nothing(tmp_path):
    out = tmp_path / "out"
    said = subprocess.run(
        ["bash", SCRIPT, "--dry", "--tiny"], env={"OUT": str(out)}, capture_output=True, text=True
    )
    steps = re.findall(r"at most (\d+) s: .* tools\.gpu (\S+) --out \S+ --tiny", said.stdout)
    assert [name for _, name in steps] == ["right", "compress", *gpu.METHODS, "more"]
    assert sum(int(seconds) for seconds, _ in steps) <= 8 * 60
    assert (said.returncode, said.stderr, out.exists()) == (0, "", False)


def test_choosing_tokens_is_measured_without_the_packages_of_the_app(tmp_path, monkeypatch):
    for name in ("gradio", "av", "plotly", "matplotlib", "psutil"):
        monkeypatch.setitem(sys.modules, name, None)
    monkeypatch.setattr(gpu, "COMPRESSORS", ["gleanvid", "divprune"])
    gpu.main(["compress", "--device", "cpu", "--tiny", "--out", str(tmp_path)])
    first, others = json.loads((tmp_path / "compress.json").read_text())["rows"]
    assert [row["compressor"] for row in others["rows"]] == ["X @ X.T", "divprune"]
    calls = {row["compressor"]: row.get("torch_calls") for row in first["rows"]}
    assert calls["gleanvid"] > calls["vidcom2"] > 0
    assert (tmp_path / "trace.json.gz").stat().st_size > 10_000


def test_a_row_that_fails_says_why_and_leaves_the_others(tmp_path, monkeypatch):
    def captured(method, tokens):
        if method.name == "vidcom2":
            raise RuntimeError("capture refused")
        return {"mean_s": 1.0}

    monkeypatch.setattr(gpu, "_captured", captured)
    gpu.main(["more", "--device", "cpu", "--tiny", "--out", str(tmp_path)])
    rows = json.loads((tmp_path / "more.json").read_text())["rows"]
    errors = [row.get("error") for row in rows]
    assert errors == [None, "RuntimeError: capture refused", *[None] * 3]


def test_a_family_that_cannot_be_made_leaves_the_other_rows_of_right(tmp_path, monkeypatch):
    def no_package(folder):
        raise ImportError("Package `num2words` is required")

    monkeypatch.setattr(gpu, "EVERY", {"smolvlm": no_package})
    monkeypatch.setattr(gpu, "_built_in", lambda device: {"kept_by_both": [float("nan")]})
    gpu.main(["right", "--device", "cpu", "--tiny", "--out", str(tmp_path)])
    first, *rest = json.loads((tmp_path / "right.json").read_text())["rows"]
    assert first == {"model": "builtin", "kept_by_both": [None]}
    assert [row["error"].split(":")[0] for row in rest] == ["ImportError"] * 2
