import numpy as np
import pytest
import torch

from gleanvid.compressors import COMPRESSORS, declared_settings
from gleanvid.compressors.full_tokens import FullTokens
from gleanvid.models.generation.sampling import Sampling
from gleanvid.types import Video
from tests.models.tiny import noise_video


def forms(method):
    declared = declared_settings(method)
    share = {} if method is FullTokens else {"retention_ratio": 0.5}
    names = declared["variant"][2].choices if "variant" in declared else ()
    return [method(variant=name, **share) for name in names] or [method(**share)]


FORMS = [form for method in COMPRESSORS.values() for form in forms(method)]


def shown(adapter, frames):
    """Return the pixels that the vision tower receives: T frames of S x S, colours summed."""
    video = Video.from_frames(frames, 1)
    inputs = adapter.build_inputs(video, adapter.chat_text(video, "?", ()), None)
    return inputs["pixel_values_videos"][0].sum(1)


def test_llava_next_video_margins_cropped_from_a_frame_have_no_tokens(adapters):
    """The frames are wider than high: LLaVA-NeXT-Video crops them to the middle square."""
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
def test_every_compressor_runs_on_llava(adapters, compressor):
    model, video = adapters["llava_onevision"], noise_video(6)
    encoded = model.encode(video, compressor.needs)
    answer = model.generate(encoded, "what moves?", compressor, Sampling(2))
    assert answer.new_tokens == 2
    first = min(answer.by_layer)
    record = answer.by_layer[first]
    assert record.num_tokens == len(encoded.tokens)
    # the prompt is shorter by the number of dropped video tokens, even if two kept tokens
    # have the same position
    if first == 0:
        dropped = answer.prompt_tokens - answer.prompt_tokens_kept
        assert dropped == record.num_tokens - record.num_kept
