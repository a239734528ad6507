"""Positions written by hand from the papers, for families with multimodal rotary positions.

The reference of the other tests takes positions from the model, so it cannot see a fault there.
Text counts up by one in all three sections (time, row, column). A video begins where text would go
on; whatever follows it begins after the largest of its positions (Qwen2-VL, arXiv:2409.12191, 2.1).
"""

from dataclasses import dataclass

import pytest
import torch

from gleanvid.models import compressing
from gleanvid.models.families.announced import runs_of
from gleanvid.types import Video
from tests.models.oracle import EveryNth, kept_columns
from tests.models.tiny import noise_video


@dataclass(frozen=True)
class Rule:
    """``restarts``: every unit begins anew, as an image; else ``per_s`` positions a second, or one
    position a unit. ``whole``: positions are rounded down."""

    restarts: bool = False
    per_s: float | None = None
    whole: bool = True


RULES = {
    "qwen2_vl": Rule(),
    "qwen2_5_vl": Rule(per_s=4),  # tokens_per_second of the tiny configuration
    "qwen3_omni": Rule(per_s=13, whole=False),
    "qwen3_vl": Rule(restarts=True),
    "qwen3_5": Rule(restarts=True),
    "glm4v": Rule(restarts=True),
    "glm46v": Rule(restarts=True),
}


def by_hand(prompt, placeholder, grid, rule, unit_s):
    """Return [3, L] for the ids of a prompt with one video; ``unit_s``: seconds of a unit."""
    _, rows, columns = grid
    positions, at, end = [], 0, 0
    for start, stop in runs_of(prompt, placeholder):
        positions += [(at + k,) * 3 for k in range(start - end)]
        at += start - end
        first = len(positions)
        for unit in range((stop - start) // (rows * columns)):
            if rule.restarts:
                time = 0
            else:
                time = unit if rule.per_s is None else unit * unit_s * rule.per_s
                time = int(time) if rule.whole else time
            positions += [
                (at + time, at + row, at + column)
                for row in range(rows)
                for column in range(columns)
            ]
        at = max(max(place) for place in positions[first:]) + 1
        end = stop
    positions += [(at + k,) * 3 for k in range(len(prompt) - end)]
    return torch.tensor(positions, dtype=torch.float).T


def received(adapter, frames):
    """Return the positions that the language model gets, and those by hand: [3, K] each."""
    video = Video.from_frames(noise_video(frames).frames, fps=8.0)
    inputs = adapter.build_inputs(video, adapter.chat_text(video, "what moves?", ()), None)
    seen = []

    def look(module, args, kwargs):
        seen.append(kwargs["position_ids"][-3:, 0].float())

    with compressing(adapter.hf_model, EveryNth(0.25)) as record:
        with adapter.layout.language_model.register_forward_pre_hook(look, with_kwargs=True):
            adapter.hf_model(**inputs)
        compression = record.compression
    rule = RULES[adapter.hf_model.config.model_type.removesuffix("_moe_thinker")]
    prompt = inputs["input_ids"][0].tolist()
    whole = by_hand(prompt, adapter.layout.video_token_id, compression.grid, rule, 2 / video.fps)
    return seen[0], whole[:, kept_columns(adapter, inputs, [compression])[0]]


@pytest.mark.parametrize("every_adapter", RULES, indirect=True)
def test_kept_tokens_have_the_positions_of_the_paper(every_adapter):
    found, expected = received(every_adapter, 6)
    assert torch.equal(found, expected)


LONG = pytest.mark.xfail(
    strict=True, reason="transformers 5.24 lets text begin after the rows, whatever the time"
)


@pytest.mark.parametrize(
    "every_adapter",
    [pytest.param(f, marks=LONG) if f in ("qwen2_vl", "qwen2_5_vl") else f for f in RULES],
    indirect=True,
)
def test_text_after_a_long_video_has_the_positions_of_the_paper(every_adapter):
    found, expected = received(every_adapter, 40)
    assert torch.equal(found, expected)
