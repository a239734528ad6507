"""Run GleanVID's checks on a published language model with 30 layers.

OMP_NUM_THREADS=1 python -m tools.smollm2_check --cache FOLDER --out results/smollm2
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

import torch

from gleanvid.api import ask
from gleanvid.compressors import method_from
from gleanvid.compressors.full_tokens import FullTokens
from gleanvid.evaluation.check.check import check
from gleanvid.evaluation.check.reference import compact_positions, original_positions
from gleanvid.evaluation.markdown import markdown_table
from gleanvid.evaluation.provenance import describe_machine, in_words
from gleanvid.models import load_model
from gleanvid.models.base import ModelAdapter
from gleanvid.models.cost.measure import reset_peak_memory
from gleanvid.types import Video
from gleanvid.video import read_video
from tests.compressors.chain import Chain
from tests.models.oracle import QUESTIONS, model_inputs
from tests.models.test_layers import CHAINS, HALF, compact_rotary_rows
from tools.oracle import AHEAD, against_masks, largest, with_fault
from tools.smollm2_model import build

NAME = "SmolLM2-135M-Instruct (Q4_1) behind a random tower"
CLIP, FRAMES = Path(__file__).parents[1] / "assets" / "clips" / "glimpse_1.mp4", 16
# Number of layers of the cut model, as in the built-in one. With so few layers, methods inside the
# model cannot reach the lowest retention ratios.
SHALLOW = 5
TWENTY = Chain("twenty", ((0, HALF), (10, HALF), (20, HALF)))
CASES = {
    "every token kept (rounding)": Chain("all", ((0, FullTokens()),)),
    "25 % before the model": AHEAD,
    "half before layers 0, 1 and 4": CHAINS[-1],
    "half before layers 0, 10 and 20": TWENTY,
    "half before the last layer": Chain("last", ((29, HALF),)),
    "FastV at 25 %": Chain("fastv", ((2, method_from("fastv", 0.25).at_depth(30)),)),
}
METHODS = (
    *("full", "gleanvid", "fastv", "sparsevlm", "framefusion", "dycoke"),
    *("flashvid(inner=true)", "holitom(inner=true)"),
)
RATIOS = (0.5, 0.35, 0.25, 0.15, 0.1, 0.07)
TEXT = f"""# GleanVID with a published language model

Published language model (SmolLM2-135M-Instruct, Q4_1, Apache-2.0), random tower: nothing can be
said about answers. {{parameters:,}} parameters, 30 layers. Written by
`python -m tools.smollm2_check --cache FOLDER --out results/smollm2`. `smollm2.json` has every
figure, `check-*.md` the reports of `gleanvid check` on {FRAMES} frames of `{CLIP.name}`.

{{machine}}; up {{uptime_s:,.0f}} s.

On text alone the model in SmolVLM's class differs from the published one in its own class by at
most {{alone:g}} logits.

## Compressed generation against masks

Largest absolute difference of logits in prefill / in six decoded tokens, as in `results/oracle.md`,
for one prompt and for two of unequal length, of which the shorter is padded. *padding* is the model
without GleanVID: called with the positions that generate() takes, and without any, which counts the
padding. *fault*: made on purpose. In the float64 model
transformers still computes norms and rotary angles in float32, and generate() copies logits as
float32.

"""
STAGES = f"""
## Methods inside the model

Float32, one question on {FRAMES} frames. Seconds to the first token, compressor included, of one
run; or *no* where the ratio is refused. {SHALLOW} layers: this model cut behind layer {SHALLOW}.
Memory is the peak of the whole process at 50 %.

"""


@torch.no_grad()
def oracle(model: ModelAdapter, rows: int) -> dict[str, list[float]]:
    """Return by case the largest difference of logits: tokens dropped, against tokens masked.

    There is a value for prefill and one for decoding. Padding (without compression) and faults made
    on purpose have prefill only, where their logits are compared with the right ones.
    """
    found = {name: list(against_masks(model, case, rows)) for name, case in CASES.items()}
    hf_model: Any = model.hf_model
    inputs = model_inputs(model, QUESTIONS[:rows])
    real = inputs["attention_mask"].bool()
    placed = hf_model(**inputs, position_ids=original_positions(hf_model, inputs)).logits
    found["padding, without GleanVID"] = [largest(hf_model(**inputs).logits[real], placed[real])]
    found["fault: positions"] = [with_fault(model, AHEAD, compact_positions(model))]
    found["fault: rotary rows"] = [with_fault(model, TWENTY, compact_rotary_rows(model, 10))]
    return found


def attempt(model: ModelAdapter, video: Video, method: str, ratio: float) -> dict[str, Any]:
    """Ask one question under a method; return its cost, or why the method was refused."""
    reset_peak_memory(model.device)
    try:
        cost = ask(video, "What moves?", model, method_from(method, ratio), 1).cost
    except ValueError as error:
        return {"refused": str(error)}
    return {
        "first_token_s": cost.compress_s + cost.prefill_s,
        "average_retention": cost.average_retention,
        "visual_tokens_by_layer": cost.visual_tokens_by_layer,
        "peak_memory_mib": cost.peak_memory_mib,
    }


def stages(model: ModelAdapter, video: Video) -> dict[str, list[dict[str, Any]]]:
    """Return every method's costs or refusals, in the order of ``RATIOS``."""
    # this first question encodes the clip; all later ones reuse the encoding
    ask(video, "What moves?", model, "full", 1)
    return {
        method: [attempt(model, video, method, ratio) for ratio in RATIOS] for method in METHODS
    }


def measure(folder: Path, out: Path) -> dict[str, Any]:
    """Run all measurements; also write the reports of ``gleanvid check``."""
    video, found = read_video(CLIP, num_frames=FRAMES), dict[str, Any](oracle={}, stages={})
    for precision in ("float32", "bfloat16", "float64"):
        wide = precision == "float64"
        model = load_model(folder, device="cpu", dtype="float32" if wide else precision)
        model.name = NAME
        if wide:
            model.hf_model.double()
        else:
            check(model, video, on_progress=print).write(out, f"check-{precision}")
        if precision == "float32":
            found["parameters"] = sum(one.numel() for one in model.hf_model.parameters())
            found["stages"]["30"] = stages(model, video)
        found["oracle"][precision] = {str(rows): oracle(model, rows) for rows in (1, 2)}
    model = load_model(folder, device="cpu", dtype="float32")
    inner: Any = model.hf_model
    inner.model.text_model.layers = inner.model.text_model.layers[:SHALLOW]
    inner.config.text_config.num_hidden_layers = SHALLOW
    found["stages"][str(SHALLOW)] = stages(model, video)
    return found


def oracle_table(found: dict[str, Any]) -> str:
    pairs = [(precision, rows) for precision in found for rows in found[precision]]
    heads = [f"{precision}, {rows} prompt{'s' * (rows == '2')}" for precision, rows in pairs]
    names = list(found["float32"]["1"])
    cells = [
        [name, *(" / ".join(f"{x:.1e}" for x in found[one][rows][name]) for one, rows in pairs)]
        for name in names
    ]
    return markdown_table(["", *heads], cells)


def stage_table(found: dict[str, Any]) -> str:
    heads = ["method", "layers", *(f"{ratio:.0%}" for ratio in RATIOS), "peak MiB"]
    rows, refusals = [], []
    for method in METHODS:
        for depth, tries in ((depth, found[depth][method]) for depth in found):
            cells = [f"{one['first_token_s']:.2f}" if len(one) > 1 else "no" for one in tries]
            memory = tries[0].get("peak_memory_mib")
            rows.append([f"`{method}`", depth, *cells, f"{memory:,.0f}" if memory else ""])
            first = [one["refused"] for one in tries if len(one) == 1][:1]
            refusals += [f"- {depth} layers: {reason}" for reason in first]
    return markdown_table(heads, rows) + "\n" + "\n".join(refusals) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--cache", required=True, type=Path, help="folder to cache 93 MB of downloaded packages in"
    )
    parser.add_argument("--out", required=True, type=Path)
    options = parser.parse_args()
    machine = describe_machine(torch.device("cpu"))
    uptime_s = float(Path("/proc/uptime").read_text().split()[0])
    folder, alone = build(options.cache)
    found = measure(folder, options.out)
    facts = {"model": NAME, "machine": machine, "uptime_s": uptime_s, "alone": alone}
    whole = facts | {"ratios": RATIOS} | found
    (options.out / "smollm2.json").write_text(json.dumps(whole, indent=1) + "\n")
    text = TEXT.format(**facts | found | {"machine": in_words(machine)})
    tables = (oracle_table(found["oracle"]), STAGES, stage_table(found["stages"]))
    (options.out / "smollm2.md").write_text(text + "".join(tables))


if __name__ == "__main__":
    main()
