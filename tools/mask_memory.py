"""Measure the memory of L x L attention masks, which transformers makes before hooks run.

python -m tools.mask_memory --out results
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path

import torch
import transformers

from gleanvid.evaluation.markdown import markdown_table
from gleanvid.models import load_model
from tests.models.conftest import EVERY
from tests.models.test_mask_memory import METHODS, PAIRING, peak_bytes

TEXT = """# Memory of masks that pair all tokens

Gemma 4 (windows, and the tokens of a frame that see each other) and Molmo 2 (one block of visual
tokens) need a mask that knows more than order. Their classes in transformers make it for the whole
prompt, in the forward pass that calls the language model: ahead of the place where tokens are taken
out, so that it is there whatever is kept. It grows with the square of the prompt. What compression
adds is the cut mask alone, and layers behind it see only that.

Most bytes at once while a prompt is answered, over what was held before, and those bytes for each
pair of tokens of the whole prompt. Tiny models of the real classes, whose rows are so narrow that
masks are most of it. Written by `python -m tools.mask_memory --out results`.
"""


def rows(family: str, adapter, sizes=(8, 16, 32)):
    for frames in sizes:
        cells = []
        for method in METHODS.values():
            peak, columns = peak_bytes(adapter, frames, method)
            cells += [f"{peak / 2**20:.1f} MiB", f"{peak / columns**2:.1f}"]
        yield [f"`{family}`", str(frames), f"{columns:,}", *cells]


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--out", required=True, type=Path)
    out = parser.parse_args().out
    found = []
    for family in PAIRING:
        with tempfile.TemporaryDirectory() as directory:
            EVERY[family](Path(directory))
            found += rows(family, load_model(directory, device="cpu"))
    heads = ["family", "frames", "columns"]
    for name in METHODS:
        heads += [f"{name}, peak", "bytes a pair"]
    stack = f"transformers {transformers.__version__}, torch {torch.__version__}, CPU, float32."
    text = f"{TEXT}\n{stack}\n\n{markdown_table(heads, found)}"
    (out / "mask_memory.md").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
