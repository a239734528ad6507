from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pytest
import torch
from transformers import AutoTokenizer

from gleanvid.compressors.base import Compressor
from gleanvid.glimpse.training import masks
from gleanvid.glimpse.training.architecture import build_model
from gleanvid.glimpse.training.batches import make_clip, pack
from gleanvid.glimpse.training.learner import Learner
from gleanvid.glimpse.training.masks import draw_mask, draw_share, without_tokens
from gleanvid.models import compressing
from gleanvid.models.loading.load import BUILTIN
from gleanvid.types import Compression
from tests.glimpse.test_batches import SETTINGS, inference_inputs

GRID = (16, 10, 10)


@dataclass(frozen=True)
class KeepsListed(Compressor):
    name: ClassVar[str] = "these"
    paper: ClassVar[str] = "test"
    keep: tuple[int, ...] = ()

    def __post_init__(self):
        """Skip the check of settings, which would refuse ``keep``: it is not a declared setting."""

    def _compress(self, tokens):
        return Compression.pruned(torch.tensor(self.keep), tokens.grid)


@pytest.fixture(scope="module")
def tokenizer():
    return AutoTokenizer.from_pretrained(BUILTIN)


@pytest.fixture(scope="module")
def learner(tokenizer):
    torch.manual_seed(1)
    model = build_model(tokenizer)
    # larger weights than the default ones, whose logits are too similar to reveal errors
    for weight in model.parameters():
        if weight.ndim > 1:
            torch.nn.init.normal_(weight, std=0.05)
    return Learner(model, tokenizer)


@pytest.mark.parametrize("share", [0.05, 0.3, 0.8])
def test_training_and_library_give_equal_logits_for_the_same_kept_tokens(tokenizer, learner, share):
    clip = make_clip(0, "train", 4, SETTINGS, worse=False, limit=6)
    batch = pack([clip], tokenizer)
    keep = draw_mask(np.random.default_rng(3), (3, 6, 8), share)
    with torch.no_grad():
        shorter, positions, streams = without_tokens(
            batch,
            learner.positions(batch),
            learner.encode(batch),
            keep,
            learner.model.config.video_token_id,
        )
        scores = learner.read(shorter, streams, positions).scores
    untouched = build_model(tokenizer)
    untouched.load_state_dict(learner.model.state_dict())
    offset = 0
    for question in clip.questions:
        inputs = inference_inputs(clip, question, tokenizer)
        inputs.pop("video_metadata", None)
        length = len(tokenizer(question.answer)["input_ids"]) + 1
        kept = tuple(torch.nonzero(keep).flatten().tolist())
        with torch.no_grad(), compressing(untouched, KeepsListed(keep=kept)) as record:
            expected = untouched(**inputs).logits[0, -length - 1 : -1]
        assert record.compression.num_kept == len(kept) == round(share * 144)
        torch.testing.assert_close(scores[offset : offset + length], expected, atol=2e-3, rtol=0)
        offset += length
    assert offset == len(scores)


def test_batch_after_token_removal_has_matching_ids_positions_and_labels(tokenizer, learner):
    batch = pack([make_clip(0, "train", 4, SETTINGS, worse=False, limit=6)], tokenizer)
    keep = draw_mask(np.random.default_rng(0), (3, 6, 8), 0.25)
    video = learner.model.config.video_token_id
    shorter, positions, streams = without_tokens(
        batch, learner.positions(batch), [torch.arange(144)], keep, video
    )
    assert streams[0].tolist() == torch.nonzero(keep).flatten().tolist()
    assert positions.shape[-1] == shorter.ids.shape[1] == batch.ids.shape[1] - 144 + 36
    assert shorter.labels[shorter.labels >= 0].tolist() == batch.labels[batch.labels >= 0].tolist()
    assert shorter.ids[*shorter.asked.T].tolist() == batch.ids[*batch.asked.T].tolist()
    assert len(shorter.seen) == len(shorter.happened) == shorter.evidence.shape[1] == 36


@pytest.mark.parametrize("kind", masks.KINDS)
def test_training_mask_keeps_the_ratio_and_varies_over_units_or_positions_by_its_kind(
    monkeypatch, kind
):
    monkeypatch.setattr(masks, "KINDS", (kind,))
    rng = np.random.default_rng(0)
    drawn = torch.stack([draw_mask(rng, GRID, 0.25) for _ in range(40)]).float().view(-1, *GRID)
    assert drawn.sum((1, 2, 3)).eq(400).all()
    # Standard deviation of the kept fraction over temporal units and over grid positions. Masks of
    # kind "uniform" have 0.04 and 0.11, by chance alone.
    by_unit = drawn.mean((2, 3)).std(1).mean()
    by_place = drawn.mean(1).std((1, 2)).mean()
    assert (by_unit > 0.08) == (kind in ("time", "blob"))
    assert (by_place > 0.15) == (kind in ("column", "blob"))


def test_training_mask_keeps_at_least_one_token_and_all_at_retention_ratio_1():
    rng = np.random.default_rng(0)
    assert draw_mask(rng, (1, 1, 3), 0.01).sum() == 1
    assert all(draw_mask(rng, GRID, 1.0).all() for _ in range(8))


def test_drawn_retention_ratio_is_1_for_a_fixed_fraction_of_clips_and_else_log_uniform():
    rng = np.random.default_rng(0)
    shares = np.array([draw_share(rng) for _ in range(4000)])
    assert abs((shares == 1).mean() - masks.WHOLE) < 0.03
    less = shares[shares < 1]
    assert less.min() >= masks.LEAST
    assert abs(np.median(less) - masks.LEAST**0.5) < 0.02


def test_training_masks_keep_every_grid_position_equally_often():
    rng = np.random.default_rng(1)
    often = torch.stack([draw_mask(rng, (4, 3, 5), 0.3) for _ in range(4000)]).float().mean(0)
    assert (often - 0.3).abs().max() < 0.04
