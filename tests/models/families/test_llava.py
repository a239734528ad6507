"""The LLaVA families: what is cropped, and every method at work."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from gleanvid.compressors import COMPRESSORS, declared_settings
from gleanvid.compressors.full_tokens import FullTokens
from gleanvid.models.generation.sampling import Sampling
from gleanvid.types import Video
from tests.models.tiny import noise_video


def forms(method):
    """Every published variant of a method."""
    declared = declared_settings(method)
    share = {} if method is FullTokens else {"retention_ratio": 0.5}
    names = declared["variant"][2].choices if "variant" in declared else ()
    return [method(variant=name, **share) for name in names] or [method(**share)]


FORMS = [form for method in COMPRESSORS.values() for form in forms(method)]


def shown(adapter, frames):
    """Pixels [T, S, S] that the tower receives, summed over colours."""
    video = Video.from_frames(frames)
    inputs = adapter.build_inputs(video, adapter.chat_text(video, "?", ()), None)
    return inputs["pixel_values_videos"][0].sum(1)


def test_cropped_margins_have_no_tokens(adapters):
    """LLaVA-NeXT-Video crops wide frames."""
    model = adapters["llava_next_video"]
    blank = np.zeros((1, 60, 150, 3), np.uint8)
    boxes = model.encode(Video.from_frames(blank)).tokens.rectangles
    assert (boxes[:, 0].min(), boxes[:, 2].max()) == (45, 105)
    assert (boxes[:, 1].min(), boxes[:, 3].max()) == (0, 60)
    painted = blank.copy()
    painted[:, :, :42] = painted[:, :, 108:] = 255
    assert torch.equal(shown(model, painted), shown(model, blank))


@pytest.mark.parametrize(
    "compressor", FORMS, ids=lambda form: f"{form.name}-{getattr(form, 'variant', 'own')}"
)
def test_every_method_runs(adapters, compressor):
    """With the signals it needs from the tower, and its stages inside the language model."""
    model, video = adapters["llava_onevision"], noise_video(6)
    encoded = model.encode(video, compressor.needs)
    answer = model.generate(encoded, "what moves?", compressor, Sampling(2))
    assert answer.new_tokens == 2
    first = min(answer.by_layer)
    record = answer.by_layer[first]
    assert record.num_tokens == len(encoded.tokens)
    if first == 0:  # the newline and all text stay, and rows that share a place count each
        dropped = answer.prompt_tokens - answer.prompt_tokens_kept
        assert dropped == record.num_tokens - record.num_kept
