"""Print how far logits of compressed generation differ from a reference, by model family.

python -m tools.oracle > results/oracle.md
"""

from __future__ import annotations

import tempfile
from contextlib import nullcontext
from pathlib import Path

import pytest
import torch
import transformers

from gleanvid.compressors.full_tokens import FullTokens
from gleanvid.evaluation.check.reference import (
    compact_positions,
    kept_columns,
    original_positions,
    recomputed,
)
from gleanvid.models import compressing, load_model
from tests.compressors.chain import Chain
from tests.models.conftest import EVERY, RECURRENT
from tests.models.oracle import (
    QUESTIONS,
    EveryNth,
    Tilted,
    generate,
    left_by_layer,
    masked_logits,
    model_inputs,
    read_while_decoding,
    unlike_videos,
)
from tests.models.test_layers import CHAINS, compact_rotary_rows, oracle_logits

DECODED = 6  # decoded tokens, twice as many as in the tests
AHEAD, INSIDE = Chain("ahead", ((0, Tilted(retention_ratio=0.25)),)), CHAINS[1]
COLUMNS = (
    "family",
    "all tokens kept",
    "25 %, prefill",
    f"25 %, {DECODED} decode steps",
    "stages inside",
    "wrong positions",
    "wrong rotary rows inside",
)


TEXT = f"""# Compressed generation against its references

Largest absolute difference of logits on tiny random models of the real classes; written by
`python -m tools.oracle`. Batches of one and of two prompts whose videos keep different
numbers of tokens; the larger difference is stated. The reference is the whole prompt with the
dropped tokens masked, layer by layer, and the same tokens fed in. Stages inside: the worst of
{len(CHAINS)} chains, or refused. The last two columns are negative controls: what a fault would
look like. The recurrent layers of Qwen3.5 and MiniCPM-V know no masks: there the reference is the
shorter prompt read without a cache, for the last row of prefill and every step."""


def largest(ours, theirs) -> float:
    return float((ours - theirs).abs().max())


def keeping_all(adapter, rows) -> float:
    inputs = model_inputs(adapter, QUESTIONS[:rows])
    plain = generate(adapter, inputs, DECODED + 1)
    with compressing(adapter.hf_model, FullTokens()):
        same = generate(adapter, inputs, DECODED + 1)
    return largest(torch.stack(same.logits), torch.stack(plain.logits))


def prefill_logits(adapter, inputs) -> torch.Tensor:
    """Return the logits of one forward pass over the prompt, [batch, prompt, vocabulary].

    Positions are passed because some model families would otherwise count a prompt's left padding.
    """
    positions = original_positions(adapter.hf_model, inputs)
    return adapter.hf_model(**inputs, position_ids=positions).logits


def against_masks(adapter, chain, rows) -> tuple[float, float]:
    """Compare logits with those of a model whose attention masks hide the dropped tokens.

    Returns the largest difference in prefill and the largest in decoding.
    """
    inputs = model_inputs(adapter, QUESTIONS[:rows], unlike_videos(adapter)[:rows])
    with compressing(adapter.hf_model, chain) as record:
        output = generate(adapter, inputs, DECODED + 1)
        prefill = prefill_logits(adapter, inputs)
    layers = left_by_layer(adapter, inputs, record, len(adapter.layout.language_model.layers))
    steps = read_while_decoding(output, inputs)
    if adapter.layout.windows:  # masks differ between layers
        whole, decoded = masked_logits(adapter.hf_model, inputs, layers[-1], steps)
    else:
        whole, decoded = oracle_logits(adapter, inputs, layers, steps)
    kept = layers[-1]
    first = max(largest(prefill[r, -int(kept[r].sum()) :], whole[r][kept[r]]) for r in range(rows))
    return first, largest(torch.stack(output.logits, 1)[:, 1:], decoded[:, 1:])


def with_fault(adapter, chain, fault) -> float:
    inputs = model_inputs(adapter, QUESTIONS[:1])
    with compressing(adapter.hf_model, chain):
        right = adapter.hf_model(**inputs).logits
        with fault:
            return largest(right, adapter.hf_model(**inputs).logits)


def figures(adapter) -> list[float | str]:
    both = [against_masks(adapter, AHEAD, rows) for rows in (1, 2)]
    if adapter.layout.ahead_only:
        with pytest.raises(ValueError, match=adapter.layout.ahead_only):
            with_fault(adapter, INSIDE, nullcontext())
        everything = max(keeping_all(adapter, rows) for rows in (1, 2))
        wrong = with_fault(adapter, AHEAD, compact_positions(adapter))
        return [everything, *map(max, zip(*both, strict=True)), "refused", wrong, ""]
    return [
        max(keeping_all(adapter, rows) for rows in (1, 2)),
        *map(max, zip(*both, strict=True)),
        max(max(against_masks(adapter, chain, rows)) for chain in CHAINS for rows in (1, 2)),
        with_fault(adapter, AHEAD, compact_positions(adapter)),
        with_fault(adapter, INSIDE, compact_rotary_rows(adapter, 2)),
    ]


def recurrent_figures(adapter) -> list[float | str]:
    """Return the table cells of a recurrent family, where masks cannot hide dropped tokens.

    The reference is one pass over the prompt without the dropped tokens, without a cache.
    """
    inputs = model_inputs(adapter, QUESTIONS[:1])
    with compressing(adapter.hf_model, EveryNth(retention_ratio=0.25)) as record:
        output = generate(adapter, inputs, DECODED + 1)
    kept = kept_columns(adapter, inputs, [record.compression])[0]
    steps = read_while_decoding(output, inputs)[0]
    ours = torch.cat(output.logits)
    right = recomputed(adapter, inputs, kept, steps)[-len(ours) :]
    wrong = recomputed(adapter, inputs, kept, steps, compact=True)[-len(ours) :]
    ahead = [largest(ours[:1], right[:1]), largest(ours[1:], right[1:])]
    everything = max(keeping_all(adapter, rows) for rows in (1, 2))
    with pytest.raises(ValueError, match="recurrent"):
        with_fault(adapter, INSIDE, nullcontext())
    return [everything, *ahead, "refused", largest(wrong, right), ""]


def cell(figure: float | str) -> str:
    return figure if isinstance(figure, str) else f"{figure:.1e}" if figure else "0"


@torch.no_grad()
def row(family: str) -> str:
    with tempfile.TemporaryDirectory() as directory:
        EVERY[family](Path(directory))
        adapter = load_model(directory, device="cpu")
    made = (recurrent_figures if family in RECURRENT else figures)(adapter)
    return " | ".join([f"| `{family}`", *map(cell, made)]) + " |"


def main() -> None:
    stack = f"transformers {transformers.__version__}, torch {torch.__version__}"
    print(f"{TEXT}\n\n{stack}, CPU, float32.\n")
    print("| " + " | ".join(COLUMNS) + " |\n|" + "---|" * len(COLUMNS))
    for family in EVERY:
        print(row(family), flush=True)


if __name__ == "__main__":
    main()
