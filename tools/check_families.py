"""Run ``gleanvid check`` on a tiny model of every family, in float32 and bfloat16 on the CPU.

python -m tools.check_families --out results/check
"""

from __future__ import annotations

import argparse
import json
import tempfile
from pathlib import Path

import torch
import transformers

from gleanvid.evaluation.check.check import check
from gleanvid.evaluation.check.laws import LAWS
from gleanvid.evaluation.markdown import markdown_table
from gleanvid.models import load_model
from tests.models.conftest import EVERY
from tests.models.tiny import noise_video

TEXT = """# `gleanvid check --quick` on tiny random models of the real classes

Written by `python -m tools.check_families --out results/check`; `families.json` has every report
whole. `prefill`, `decode` and `cache` are differences of logits, of their spread over the
vocabulary (root mean squares), with what is allowed; `with a fault`: that of `prefill` where the
kept tokens stand at wrong positions. The others count what is wrong.
"""
RELATIVE = ("prefill", "decode", "cache")


def row(family: str, dtype: str, report) -> list[str]:
    found = {one.name: one for one in report.findings}
    cells = [
        f"{found[name].figure:.1e}" if name in RELATIVE else f"{found[name].figure:g}"
        for name in LAWS
    ]
    prefill = found["prefill"]
    last = [f"{prefill.bound:.1e}", f"{prefill.control:.1e}", ", ".join(report.failed) or "none"]
    return [f"`{family}`", dtype, *cells, *last]


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--out", required=True, type=Path)
    out = parser.parse_args().out
    out.mkdir(parents=True, exist_ok=True)
    rows, whole = [], []
    for family, make in EVERY.items():
        with tempfile.TemporaryDirectory() as directory:
            make(Path(directory))
            for dtype in ("float32", "bfloat16"):
                model = load_model(directory, device="cpu", dtype=dtype)
                report = check(model, noise_video(8), quick=True)
                rows.append(row(family, dtype, report))
                whole.append({"tiny_model": family} | report.as_dict())
    heads = ["family", "precision", *(f"`{name}`" for name in LAWS)]
    table = markdown_table([*heads, "allowed", "with an error", "failed"], rows)
    stack = f"transformers {transformers.__version__}, torch {torch.__version__}, CPU."
    (out / "families.md").write_text(f"{TEXT}\n{stack}\n\n{table}")
    (out / "families.json").write_text(json.dumps(whole, indent=1) + "\n")


if __name__ == "__main__":
    main()
