import gc
import threading
import weakref

import pytest
import torch

from gleanvid.compressors.full_tokens import FullTokens
from gleanvid.evaluation.check.reference import hook_count
from gleanvid.models.generation.sampling import Sampling
from gleanvid.types import ModelError
from tests.compressors.chain import Chain
from tests.models.conftest import AHEAD_ONLY, EVERY, few_families
from tests.models.oracle import EveryNth
from tests.models.tiny import noise_video

QUARTER = EveryNth(retention_ratio=0.25)


def calls_of(module):
    seen = []
    handle = module.register_forward_pre_hook(lambda *_: seen.append(1))
    return seen, handle


@pytest.fixture
def short_context(adapter, monkeypatch):
    """Reduce the model's context length, so that the text and half of the video tokens fit."""
    encoded = adapter.encode(noise_video(8, 128, 192))
    limit = encoded.inputs["input_ids"].shape[1] - len(encoded.tokens) // 2
    monkeypatch.setattr(adapter.text_config, "max_position_embeddings", limit)
    return adapter, encoded


@few_families
def test_prompt_longer_than_the_context_is_refused_before_the_model_runs(short_context):
    adapter, encoded = short_context
    ran, handle = calls_of(adapter.layout.language_model)
    inside = None if adapter.layout.ahead_only else Chain("inside", ((2, QUARTER),))
    for call in (
        lambda: adapter.generate(encoded, "what?", None),
        lambda: adapter.generate(encoded, "what?", inside),
        lambda: adapter.conversation(encoded, FullTokens()),
    ):
        with pytest.raises(ModelError, match=r"reads at most \d+ tokens.*use fewer frames"):
            call()
    handle.remove()
    assert not ran


@few_families
def test_compression_fits_long_prompts_into_the_context_only_of_models_with_mrope(short_context):
    """Kept tokens keep their positions; 1-D positions exceed the context whatever is dropped."""
    adapter, encoded = short_context
    ran, handle = calls_of(adapter.layout.tower)
    if hasattr(adapter.layout.core, "get_rope_index"):
        assert adapter.generate(encoded, "what?", QUARTER, Sampling(2)).new_tokens > 0
        assert adapter.conversation(encoded, QUARTER).score("what?", ["a"])[0] < 0
        with pytest.raises(ModelError, match="a lower retention_ratio"):
            adapter.generate(encoded, "what?", None)
    else:
        with pytest.raises(ModelError, match="reads at most"):
            adapter.generate(encoded, "what?", QUARTER)
        with pytest.raises(ModelError, match="reads at most"):
            adapter.encode(noise_video(8, 128, 192))
        assert not ran
    handle.remove()


@few_families
@pytest.mark.parametrize("place", ["tower", "language_model"])
def test_out_of_memory_error_says_what_to_lower_and_leaves_the_model_usable(adapter, place):
    video = noise_video()
    expected = adapter.generate(adapter.encode(video), "what?", QUARTER, Sampling(3)).text
    before, held = hook_count(adapter.hf_model), []

    def exhaust(module, args, output):
        huge = torch.zeros(1000)  # a small stand-in for the tensors of the failing layer
        held.append(weakref.ref(huge))
        raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 20.00 GiB")

    part = getattr(adapter.layout, place)
    layers = next(m for m in part.modules() if isinstance(m, torch.nn.ModuleList))
    handle = layers[1].register_forward_hook(exhaust)
    encoded = None if place == "tower" else adapter.encode(video)
    calls = [lambda: adapter.encode(video)]
    if encoded is not None:
        calls = [
            lambda: adapter.generate(encoded, "what?", QUARTER),
            lambda: adapter.conversation(encoded, QUARTER),
        ]
    for call in calls:
        with pytest.raises(ModelError, match=r"ran out of memory\. Use fewer frames") as caught:
            call()
        del caught
    handle.remove()
    gc.collect()
    assert held and not any(reference() is not None for reference in held)
    assert hook_count(adapter.hf_model) == before
    free = []
    thread = threading.Thread(target=lambda: free.append(adapter.lock.acquire(timeout=1)))
    thread.start()
    thread.join()
    assert free == [True]
    adapter.lock = threading.RLock()  # the thread above has taken the lock and never releases it
    again = adapter.generate(adapter.encode(video), "what?", QUARTER, Sampling(3)).text
    assert again == expected


@pytest.mark.parametrize("family", [family for family in EVERY if family in AHEAD_ONLY])
def test_compression_at_inner_layers_is_refused_for_families_that_do_not_support_it(
    adapters, family
):
    model = adapters[family]
    before, inside = hook_count(model.hf_model), Chain("inside", ((0, QUARTER), (2, QUARTER)))
    with pytest.raises(ValueError, match=f"layer 2.*{model.layout.ahead_only}"):
        model.generate(model.encode(noise_video(2)), "what?", inside)
    assert hook_count(model.hf_model) == before
