import gc
import weakref
from dataclasses import replace

import pytest
import torch

from gleanvid.evaluation.check.reference import hook_count
from gleanvid.models import compressing
from gleanvid.models.generation.sampling import Sampling
from tests.models.conftest import EVERY, VARIANTS
from tests.models.oracle import EveryNth, model_inputs
from tests.models.tiny import noise_video

pytestmark = pytest.mark.slow
QUARTER = EveryNth(retention_ratio=0.25)
NEEDS = frozenset({"saliency", "keys"})


@pytest.fixture(params=[family for family in EVERY if family not in VARIANTS])
def adapter(request, adapters):
    return adapters[request.param]


def tower_calls(adapter, call):
    """Return the element count of each input of the tower's first layer, and ``call``'s result."""
    sizes = []
    tower = adapter.layout.tower
    layers = next(m for m in tower.modules() if isinstance(m, torch.nn.ModuleList))
    handle = layers[0].register_forward_pre_hook(
        lambda module, args, kwargs: sizes.append((args or tuple(kwargs.values()))[0].numel()),
        with_kwargs=True,
    )
    result = call()
    handle.remove()
    return sizes, result


def limit_parts(adapter, numbers, monkeypatch):
    """Give the tower the clip in parts of at most ``numbers`` pixel values, or of one unit."""
    monkeypatch.setattr(adapter, "layout", replace(adapter.layout, numbers_at_once=numbers))


def test_encoding_the_clip_in_parts_gives_the_same_tokens(adapter, monkeypatch):
    video = noise_video(7)
    whole_sizes, whole = tower_calls(adapter, lambda: adapter.encode(video, NEEDS))
    before = hook_count(adapter.hf_model)
    limit_parts(adapter, 1, monkeypatch)
    sizes, parts = tower_calls(adapter, lambda: adapter.encode(video, NEEDS))
    assert len(whole_sizes) == 1 and len(sizes) == whole.tokens.num_units
    assert max(sizes) * len(sizes) == sum(whole_sizes)
    for name in ("features", "saliency", "keys"):
        one, other = getattr(whole.tokens, name), getattr(parts.tokens, name)
        torch.testing.assert_close(other, one, atol=1e-5, rtol=0)
    answers = [adapter.generate(clip, "what?", None, Sampling(5)) for clip in (whole, parts)]
    assert answers[0].text == answers[1].text
    assert hook_count(adapter.hf_model) == before


def tensors_in(output):
    if torch.is_tensor(output):
        return [output]
    # vars() also has fields that the output's dataclass does not declare
    parts = vars(output).values() if hasattr(output, "values") else output
    nested = parts if isinstance(parts, (list, tuple)) else list(parts)
    return [t for part in nested if part is not None for t in tensors_in(part)]


def test_generate_frees_the_outputs_of_the_vision_tower(adapter, monkeypatch):
    core, name = adapter.layout.core, adapter.layout.vision_method
    original, made, alive = getattr(core, name), [], []

    def seen(*args, **kwargs):
        output = original(*args, **kwargs)
        made.extend(weakref.ref(tensor.untyped_storage()) for tensor in tensors_in(output))
        made.extend(weakref.ref(tensor) for tensor in tensors_in(output))
        return output

    seen.__wrapped__ = original
    monkeypatch.setattr(core, name, seen)

    def look(module, args, kwargs):
        if kwargs["inputs_embeds"].shape[1] == 1:
            gc.collect()
            alive.append(sum(reference() is not None for reference in made))

    handle = adapter.layout.language_model.register_forward_pre_hook(look, with_kwargs=True)
    inputs = model_inputs(adapter, ["what moves?"])
    with compressing(adapter.hf_model, QUARTER):
        adapter.hf_model.generate(**inputs, max_new_tokens=3, min_new_tokens=3, do_sample=False)
    handle.remove()
    assert made
    assert alive == [0, 0]


@pytest.mark.parametrize("own", [False, True], ids=["adapter", "own pipeline"])
def test_prefill_computes_logits_of_the_last_position_only(adapter, own):
    """Some model classes always compute the logits of all tokens and are exempt."""
    rows = []
    handle = adapter.hf_model.lm_head.register_forward_hook(
        lambda module, args, output: rows.append(output.shape[1])
    )
    if own:
        with compressing(adapter.hf_model, QUARTER):
            adapter.hf_model.generate(**model_inputs(adapter, ["what moves?"]), max_new_tokens=3)
    else:
        encoded = adapter.encode(noise_video())
        adapter.generate(encoded, "what?", QUARTER, Sampling(3))
    handle.remove()
    kind = adapter.hf_model.config.model_type
    whole = own and kind in ("video_llama_3", "qwen3_omni_moe_thinker", "minicpmv4_6")
    assert rows and (max(rows) > 1) == whole
