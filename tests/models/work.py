"""What the hooks make a device do between a question and its first token, by family and stage.

python -m tests.models.work --out results/hooks_work

Counted on the CPU (``gleanvid.evaluation.bench.work``), on tiny models of the real classes:
kernels, read-backs and copies from the host beyond those of the untouched model.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from contextlib import contextmanager
from pathlib import Path

import torch
import transformers

from gleanvid.compressors.gleanvid import GleanVID
from gleanvid.evaluation.bench.work import count
from gleanvid.evaluation.check.times import answer
from gleanvid.evaluation.markdown import markdown_table
from gleanvid.models import load_model
from gleanvid.types import Compression
from tests.compressors.chain import Chain
from tests.models.conftest import AHEAD_ONLY, EVERY
from tests.models.oracle import EveryNth
from tests.models.tiny import noise_video

COUNTED = ("kernels", "read_backs", "copies")


class Fourth(EveryNth):
    """Every fourth token, chosen on the device."""

    def _compress(self, tokens):
        keep = torch.arange(1, len(tokens), 4, device=tokens.features.device)
        return Compression.pruned(keep, tokens.grid, num_tokens=len(tokens))


AHEAD = Fourth(0.25)
INSIDE = Chain("inside", ((2, Fourth(0.25)),))
TEXT = """# What the hooks make a device do

Written by `python -m tests.models.work --out results/hooks_work`, on tiny models of the real
classes: kernels / read-backs / copies from the host, between the question and the first token.
`model`: the untouched model's own, question and generate() included; `hooks ahead`: beyond it, to
compress ahead of the language model, without the choice of tokens itself; `GleanVID`: that choice;
`hooks inside`: beyond the model's own, for a stage at layer 2. The hooks are counted with a choice
of every fourth token, whose own work is left out. The recurrent layers of Qwen3.5 and MiniCPM-V
have less to do behind a shorter prompt, which shows as less work of the hooks.
"""


@torch.no_grad()
def work(model, encoded, method):
    """Counts of one question to its first token; the first run makes what is kept."""
    answer(model, encoded, method, 1)
    found = count(lambda: answer(model, encoded, method, 1))
    return [getattr(found, name) for name in COUNTED]


@torch.no_grad()
def by_stage(model, frames, inside):
    """Stage -> counts; those of the hooks without what choosing tokens takes."""
    encoded = model.encode(noise_video(frames))
    plain = work(model, encoded, None)
    chosen = count(lambda: AHEAD.compress(encoded.tokens))
    choice = [getattr(chosen, name) for name in COUNTED]
    own = count(lambda: GleanVID(0.25).compress(encoded.tokens))
    found = {"model": plain, "GleanVID": [getattr(own, name) for name in COUNTED]}
    ahead = work(model, encoded, AHEAD)
    found["hooks ahead"] = [a - b - c for a, b, c in zip(ahead, plain, choice, strict=True)]
    if inside:
        stage = work(model, encoded, INSIDE)
        found["hooks inside"] = [a - b - c for a, b, c in zip(stage, plain, choice, strict=True)]
    return found


@contextmanager
def fewer_layers(model, count):
    """The model with the first ``count`` layers of its language model alone."""
    language_model, config = model.layout.language_model, model.text_config
    layers, depth = language_model.layers, config.num_hidden_layers
    language_model.layers, config.num_hidden_layers = layers[:count], count
    try:
        yield
    finally:
        language_model.layers, config.num_hidden_layers = layers, depth


STAGES = ("model", "hooks ahead", "GleanVID", "hooks inside")


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
