import threading
from contextlib import contextmanager

import pytest
import torch

import gleanvid
from gleanvid.attribution.attention import attention_map
from gleanvid.attribution.gradient import gradient_maps
from gleanvid.attribution.measure import measure
from gleanvid.attribution.occlusion import log_probability_of, occlusion_map
from gleanvid.attribution.prompt import AnsweredPrompt
from gleanvid.evaluation.check.reference import hook_count
from gleanvid.models import hooks, load_model
from gleanvid.types import StoppedError
from tests.models import tiny_qwen
from tests.models.tiny import noise_video

ASKED = ("what moves?", "a red")
STEP = 2e-3  # step of the finite differences: fraction of the distance from the mean token


@pytest.fixture(scope="module")
def clips():
    return {}


def prompt_of(adapter, clips):
    if adapter.name not in clips:
        clips[adapter.name] = adapter.encode(noise_video(4))
    return AnsweredPrompt.of(adapter, clips[adapter.name], *ASKED)


@contextmanager
def token_moved(prompt, stream, token, step):
    """Context in which one visual token is moved away from the mean of all visual tokens.

    ``step`` is a fraction of its distance from the mean. ``stream`` 0 moves the input embedding,
    ``stream`` n the DeepStack feature of level n.
    """

    def change(module, args, kwargs):
        if stream == 0:
            rows = kwargs["inputs_embeds"] = kwargs["inputs_embeds"].clone()
            rows, place = rows[0], prompt.columns
        else:
            levels = kwargs["deepstack_visual_embeds"] = list(kwargs["deepstack_visual_embeds"])
            rows = levels[stream - 1] = levels[stream - 1].clone()
            place = torch.arange(len(prompt.columns))
        rows[place[token]] += step * (rows[place[token]] - rows[place].mean(0))
        return args, kwargs

    handle = prompt.layout.language_model.register_forward_pre_hook(change, with_kwargs=True)
    try:
        yield
    finally:
        handle.remove()


@torch.no_grad()
def slope(prompt, stream, token):
    values = []
    for step in (STEP, -STEP):
        with token_moved(prompt, stream, token, step):
            values.append(float(prompt.log_probabilities().double().sum()))
    return abs(values[0] - values[1]) / (2 * STEP)


def test_relevance_gradient_agrees_with_finite_differences(every_adapter, clips):
    prompt = prompt_of(every_adapter, clips)
    _, (found,) = gradient_maps(prompt, [slice(None)])
    seen = {}
    with torch.no_grad():
        handle = prompt.layout.language_model.register_forward_pre_hook(
            lambda module, args, kwargs: seen.update(kwargs), with_kwargs=True
        )
        prompt.log_probabilities()
        handle.remove()
    streams = 1 + len(seen.get("deepstack_visual_embeds") or ())
    for token in found.topk(2).indices.tolist():
        expected = sum(slope(prompt, stream, token) for stream in range(streams))
        assert float(found[token]) == pytest.approx(expected, rel=0.05, abs=2e-3)


def test_generation_after_measuring_relevance_is_bit_identical_and_no_hook_is_left(
    every_adapter, clips
):
    prompt = prompt_of(every_adapter, clips)
    encoded, hooks = clips[every_adapter.name], hook_count(every_adapter.hf_model)
    asking = [weight.requires_grad for weight in every_adapter.hf_model.parameters()]
    with torch.no_grad():
        before = prompt.log_probabilities()
    methods = ["gradient", "occlusion", "attention"]
    for method in methods:
        if method == "attention" and not any(
            hasattr(layer, "self_attn") for layer in prompt.layout.language_model.layers
        ):
            continue
        found = measure(every_adapter, encoded, *ASKED, method, passes=2)
        assert float(found.tokens.sum()) == pytest.approx(1) and float(found.tokens.min()) >= 0
        assert len(found.tokens) == len(encoded.tokens) and not found.tokens.requires_grad
        assert found.log_probability == pytest.approx(float(before.sum()), abs=1e-4)
    with torch.no_grad():
        assert torch.equal(prompt.log_probabilities(), before)
    assert hook_count(every_adapter.hf_model) == hooks
    weights = list(every_adapter.hf_model.parameters())
    assert [weight.requires_grad for weight in weights] == asking
    assert all(weight.grad is None for weight in weights)


def test_relevance_from_processor_inputs_equals_relevance_of_the_clip(every_adapter, clips):
    prompt, model = prompt_of(every_adapter, clips), every_adapter.hf_model
    expected = measure(every_adapter, clips[every_adapter.name], *ASKED)
    video, hooks = noise_video(4), hook_count(model)
    inputs = every_adapter.build_inputs(video, every_adapter.chat_text(video, ASKED[0], ()), None)
    found = gleanvid.relevance_of(model, prompt.answer, **inputs)
    torch.testing.assert_close(found.tokens, expected.tokens, atol=1e-5, rtol=1e-3)
    assert found.grid == expected.grid
    assert hook_count(model) == hooks


def test_relevance_defaults_to_the_model_s_own_answer_split_into_words(qwen3):
    video = noise_video(4)
    inputs = qwen3.build_inputs(video, qwen3.chat_text(video, ASKED[0], ()), None)
    settings = {"tokenizer": qwen3.processor.tokenizer, "words": True, "max_new_tokens": 6}
    found = gleanvid.relevance_of(qwen3.hf_model, **settings, **inputs)
    whole = qwen3.hf_model.generate(**inputs, do_sample=False, max_new_tokens=6)
    answer = whole[0, inputs["input_ids"].shape[1] :]
    assert found.answer == qwen3.processor.tokenizer.decode(answer, skip_special_tokens=True)
    assert "".join(word for word, _ in found.words) == "".join(found.answer.split())


def test_relevance_map_of_a_word_uses_only_the_probability_of_that_word(qwen3, clips):
    prompt = prompt_of(qwen3, clips)
    found = measure(qwen3, clips[qwen3.name], *ASKED, words=True)
    assert [word for word, _ in found.words] == ["a", "red"]
    each = prompt.answer.tolist()
    first = next(
        n for n, token in enumerate(each) if "a" in qwen3.processor.tokenizer.decode(token)
    )
    _, (alone,) = gradient_maps(prompt, [slice(first, first + 1)])
    torch.testing.assert_close(found.words[0][1], alone / alone.sum())


def test_occlusion_of_tokens_equals_masking_them_in_attention(qwen3, clips):
    prompt = prompt_of(qwen3, clips)
    keep = torch.arange(0, len(prompt.columns), 2)
    inputs = dict(prompt.inputs)
    mask = inputs["attention_mask"].clone()
    mask[0, prompt.columns] = 0
    mask[0, prompt.columns[keep]] = 1
    kept = log_probability_of(prompt, keep)
    positions = qwen3.hf_model.model.get_rope_index(
        inputs["input_ids"],
        inputs["mm_token_type_ids"],
        video_grid_thw=inputs["video_grid_thw"],
        attention_mask=inputs["attention_mask"],
    )[0]
    masked = AnsweredPrompt(
        prompt.hf_model,
        prompt.layout,
        inputs | {"attention_mask": mask, "position_ids": positions},
        prompt.answer,
        prompt.columns,
        prompt.grid,
        prompt.vision,
    )
    with torch.no_grad():
        assert kept == pytest.approx(float(masked.log_probabilities().sum()), abs=1e-4)


def losing_prompt(adapter, clips):
    """Return a prompt whose answer becomes less likely if one of the temporal units is hidden."""
    prompt_of(adapter, clips)
    for answer in ("it", "which?", "red", "a video", "moves"):
        prompt = AnsweredPrompt.of(adapter, clips[adapter.name], ASKED[0], answer)
        if bool(occlusion_map(prompt, passes=prompt.grid[0])[1].any()):
            return prompt
    raise AssertionError("no answer becomes less likely if a unit is hidden")


def test_occlusion_map_gives_each_temporal_unit_the_log_probability_lost_by_hiding_it(qwen3, clips):
    prompt = losing_prompt(qwen3, clips)
    units = prompt.grid[0]
    each, found = occlusion_map(prompt, passes=units)
    index = torch.arange(len(found)).view(units, -1)
    for unit in range(units):
        rest = torch.cat([index[:unit], index[unit + 1 :]]).flatten()
        lost = max(0.0, float(each.sum()) - log_probability_of(prompt, rest))
        assert float(found.view(units, -1)[unit].sum()) == pytest.approx(lost, abs=1e-5)


def test_attention_map_agrees_with_the_eager_model_s_attention(tmp_path):
    tiny_qwen.qwen3_vl(tmp_path)
    adapter = load_model(tmp_path, device="cpu", attn_implementation="eager")
    prompt = AnsweredPrompt.of(adapter, adapter.encode(noise_video(4)), *ASKED)
    _, found = attention_map(prompt)
    with torch.no_grad(), hooks.remembered_vision(prompt.layout, prompt.vision):
        layers = adapter.hf_model(**prompt.inputs, output_attentions=True).attentions
    rows = torch.stack(layers)[:, 0, :, -len(prompt.answer) - 1 : -1]
    expected = rows[..., prompt.columns].mean((1, 2)).sum(0)
    torch.testing.assert_close(found, expected, atol=1e-6, rtol=1e-4)


def test_stop_event_ends_the_backward_pass_of_a_relevance_measurement(qwen3, clips, monkeypatch):
    prompt, stop, stops = prompt_of(qwen3, clips), threading.Event(), []
    layers = prompt.layout.language_model.layers
    for layer in layers:
        own = layer.mlp.forward
        monkeypatch.setattr(layer.mlp, "forward", lambda x, own=own: stops.append(1) or own(x))
    whole = AnsweredPrompt.log_probabilities

    def stop_after(self):
        found = whole(self)
        stop.set()
        return found

    monkeypatch.setattr(AnsweredPrompt, "log_probabilities", stop_after)
    with pytest.raises(StoppedError):
        measure(qwen3, clips[qwen3.name], *ASKED, stop=stop)
    assert len(stops) == len(layers)  # the backward pass ended before it recomputed a layer


def test_invalid_relevance_arguments_are_refused_before_loading_the_model():
    with pytest.raises(ValueError, match="by='magic' must be one of gradient"):
        gleanvid.relevance("nowhere.mp4", "what?", "no-model", by="magic")
    with pytest.raises(ValueError, match="words=True needs by='gradient'"):
        gleanvid.relevance("nowhere.mp4", "what?", "no-model", by="attention", words=True)
    with pytest.raises(ValueError, match="words=True needs the argument tokenizer"):
        gleanvid.relevance_of(None, words=True)
