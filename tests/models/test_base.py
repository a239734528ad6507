import threading

import pytest
import torch

from gleanvid.evaluation.check.reference import hook_count, token_columns
from gleanvid.models import compressing
from gleanvid.models.generation.sampling import Sampling
from gleanvid.types import StoppedError
from tests.models.conftest import few_families
from tests.models.oracle import EveryNth, model_inputs
from tests.models.tiny import noise_video

QUARTER = EveryNth(retention_ratio=0.25)


def test_encoded_tokens_equal_the_language_model_s_inputs(adapter):
    video = noise_video()
    encoded = adapter.encode(video)
    inputs = model_inputs(adapter, ["what moves?"], [video])
    seen = []

    def look(module, args, kwargs):
        seen.append(kwargs["inputs_embeds"][0])

    handle = adapter.layout.language_model.register_forward_pre_hook(look, with_kwargs=True)
    with torch.no_grad():
        adapter.hf_model(**inputs)
    handle.remove()
    columns = token_columns(adapter, inputs, 0, encoded.tokens.grid)
    assert torch.equal(encoded.tokens.features, seen[0][columns])
    assert len(encoded.tokens.rectangles) == encoded.tokens.tokens_per_unit
    assert len(encoded.tokens.seconds) == encoded.tokens.num_units


@pytest.mark.parametrize("compressor", [None, QUARTER], ids=["none", "25%"])
def test_answers_from_a_reused_encoding_equal_those_of_fresh_runs(adapter, compressor):
    video = noise_video()
    encoded = adapter.encode(video)
    for question in ("what moves?", "which colour is it? "):
        inputs = model_inputs(adapter, [question], [video])
        with compressing(adapter.hf_model, compressor):
            output = adapter.hf_model.generate(**inputs, do_sample=False, max_new_tokens=4)
        fresh = output[0, inputs["input_ids"].shape[1] :]
        pieces = []
        answer = adapter.generate(encoded, question, compressor, Sampling(4), on_text=pieces.append)
        assert answer.prompt_tokens == inputs["input_ids"].shape[1]
        expected = adapter.processor.tokenizer.decode(fresh, skip_special_tokens=True).strip()
        assert answer.text == expected
        assert "".join(pieces).strip() == answer.text
        assert answer.new_tokens == len(fresh)


def test_history_is_part_of_the_prompt(adapter):
    """The prompt has as many tokens as the processor's own prompt with the history."""
    video = noise_video()
    encoded = adapter.encode(video)
    history = [("what moves?", "a red square")]
    long = adapter.generate(encoded, "and now?", QUARTER, Sampling(2), history=history)
    whole = adapter.build_inputs(video, adapter.chat_text(video, "and now?", history), None)
    assert long.prompt_tokens == whole["input_ids"].shape[1]
    short = adapter.generate(encoded, "and now?", QUARTER, Sampling(2))
    assert long.prompt_tokens - short.prompt_tokens > 10
    assert torch.equal(
        whole["input_ids"], adapter.prompt(encoded, "and now?", history)["input_ids"]
    )


def test_system_message_is_before_the_video_and_changes_the_answer(qwen3):
    video = noise_video()
    plain = qwen3.generate(qwen3.encode(video), "what?", None)
    qwen3.system_message = "You are a helpful assistant."
    try:
        encoded = qwen3.encode(video)
        assert encoded.prefix.startswith("<|im_start|>system\nYou are a helpful assistant.")
        told = qwen3.generate(encoded, "what?", QUARTER)
        assert told.prompt_tokens > plain.prompt_tokens
    finally:
        qwen3.system_message = ""
    assert qwen3.generate(qwen3.encode(video), "what?", None).text == plain.text


@few_families
def test_sampling_is_reproducible_by_seed_and_leaves_the_global_generator_unchanged(adapter):
    encoded = adapter.encode(noise_video())
    state = torch.random.get_rng_state()
    texts = [
        adapter.generate(encoded, "what?", None, Sampling(12, 1.5, 0.95, seed)).text
        for seed in (1, 1, 2)
    ]
    assert texts[0] == texts[1] != texts[2]
    assert torch.equal(state, torch.random.get_rng_state())


@few_families
def test_stop_event_ends_generation_and_leaves_no_hooks(adapter):
    before = hook_count(adapter.hf_model)
    encoded = adapter.encode(noise_video())
    stop, steps, pieces = threading.Event(), [], []

    def third(*_):
        steps.append(1)
        if len(steps) == 3:
            stop.set()

    handle = adapter.hf_model.lm_head.register_forward_hook(third)
    answer = adapter.generate(
        encoded, "what?", QUARTER, Sampling(60), on_text=pieces.append, stop=stop
    )
    handle.remove()
    assert answer.new_tokens == 3
    assert "".join(pieces).strip() == answer.text != ""
    with pytest.raises(StoppedError):
        adapter.generate(encoded, "what?", QUARTER, Sampling(60), stop=stop)
    with pytest.raises(StoppedError):
        adapter.encode(noise_video(seed=5), stop=stop)
    assert hook_count(adapter.hf_model) == before


@few_families
@pytest.mark.parametrize("passes", [1, 3])
def test_stop_event_ends_a_forward_pass_at_the_next_layer(adapter, passes):
    """A stop during prefill raises; a stop during decoding returns the text so far."""
    encoded, layers = adapter.encode(noise_video()), adapter.layout.language_model.layers
    stop, first, second = threading.Event(), [], []

    def count(*_):
        first.append(1)
        if len(first) == passes:
            stop.set()

    handles = [
        layers[0].register_forward_hook(count),
        layers[1].register_forward_hook(lambda *_: second.append(1)),
    ]
    try:
        answer = adapter.generate(encoded, "what?", QUARTER, Sampling(60), stop=stop)
        assert answer.new_tokens == passes - 1 > 0
    except StoppedError:
        assert passes == 1
    finally:
        for handle in handles:
            handle.remove()
    assert len(second) == passes - 1
