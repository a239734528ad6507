from __future__ import annotations

import pytest
import torch

from gleanvid.models import compressing
from gleanvid.models.boundary import shortening
from gleanvid.types import ModelError
from tests.models.oracle import QUESTIONS, EveryNth, model_inputs
from tests.models.tiny import noise_video

QUARTER = EveryNth(retention_ratio=0.25)


@pytest.fixture(params=["molmo2"])
def model(request, adapters):
    return adapters[request.param]


def masks_of(model, inputs):
    """Return the language model's attention masks: without compression, then with it."""
    seen = []

    def look(module, args, kwargs):
        seen.append(kwargs["attention_mask"])

    for compressor in (None, QUARTER):
        with compressing(model.hf_model, compressor):
            handle = model.layout.language_model.register_forward_pre_hook(look, with_kwargs=True)
            model.hf_model(**inputs)
            handle.remove()
    return seen


def test_kept_visual_tokens_attend_to_later_frames(model):
    inputs = model_inputs(model, QUESTIONS[:1])
    whole, cut = (mask[0, 0] for mask in masks_of(model, inputs))
    assert len(cut) < len(whole) == inputs["input_ids"].shape[1]
    for mask in (whole, cut):
        assert not torch.equal(mask, torch.ones_like(mask).tril())
        assert mask.tril().any(1).all() and mask.triu(1).sum() == mask.triu(1).T.tril(-1).sum()


def test_causal_mask_over_visual_tokens_would_change_the_logits(model, monkeypatch):
    inputs = model_inputs(model, QUESTIONS[:1])
    with torch.no_grad(), compressing(model.hf_model, QUARTER):
        right = model.hf_model(**inputs).logits
        monkeypatch.setattr(shortening, "cut_masks", lambda *_: None)
        wrong = model.hf_model(**inputs).logits
    assert (right - wrong).abs().max() > 0.01


def test_molmo2_prompt_contains_the_true_frame_times(model):
    video = noise_video(4)
    ids = model.build_inputs(video, model.chat_text(video, "?", ()), None)["input_ids"]
    text = model.processor.tokenizer.decode(ids[0])
    assert [f"{time} <frame_start>" in text for time in ("0.0", "0.5", "1.0", "1.5")] == [True] * 4


def test_molmo2_clip_of_fixed_size_frames_that_exceeds_max_pixels_is_refused(model):
    video = noise_video(4)
    assert model.encode(video, max_pixels=4 * 84 * 84).tokens.grid == (4, 2, 2)
    with pytest.raises(ModelError, match="4 frames do not fit into max_pixels=28223"):
        model.encode(video, max_pixels=4 * 84 * 84 - 1)
