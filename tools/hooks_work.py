"""Count device operations that hooks cause before the first token, by model family.

python -m tools.hooks_work --out results/hooks_work

Counts kernels, device-to-host syncs and copies from the host that the model without hooks does not
need. Hooks before and inside the language model are counted separately. Runs on the CPU, with tiny
models of the real classes.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from pathlib import Path

import torch
import transformers

from gleanvid.evaluation.markdown import markdown_table
from gleanvid.models import load_model
from tests.models.conftest import AHEAD_ONLY, EVERY
from tests.models.work import COUNTED, by_stage

TEXT = """# What the hooks make a device do

Written by `python -m tools.hooks_work --out results/hooks_work`, on tiny models of the real
classes: kernels / device-to-host syncs / host-to-device copies, between the question and the first
token. `model`: the untouched model's own, question and generate() included; `hooks before`: beyond
it, to compress before the language model, without the choice of tokens itself; `GleanVID`: that
choice; `hooks inside`: beyond the model's own, for a stage at layer 2. The hooks are counted with a
choice of every fourth token, whose own work is left out. The recurrent layers of Qwen3.5 and
MiniCPM-V have less to do behind a shorter prompt, which shows as less work of the hooks.
"""
STAGES = ("model", "hooks before", "GleanVID", "hooks inside")


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--out", required=True, type=Path)
    out = parser.parse_args().out
    out.mkdir(parents=True, exist_ok=True)
    rows, whole = [], {}
    for family, make in EVERY.items():
        with tempfile.TemporaryDirectory() as directory:
            make(Path(directory))
            model = load_model(directory, device="cpu")
        inside = family not in AHEAD_ONLY
        found = {frames: by_stage(model, frames, inside) for frames in (8, 16)}
        whole[family] = found
        for frames, stages in found.items():
            cells = [" / ".join(map(str, stages[s])) if s in stages else "" for s in STAGES]
            rows.append([f"`{family}`", str(frames), *cells])
    stack = f"transformers {transformers.__version__}, torch {torch.__version__}."
    table = markdown_table(["family", "frames", *STAGES], rows)
    (out / "families.md").write_text(f"{TEXT}\n{stack}\n\n{table}")
    (out / "families.json").write_text(json.dumps({"counted": COUNTED} | whole, indent=1) + "\n")


if __name__ == "__main__":
    main()
