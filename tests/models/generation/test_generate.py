from contextlib import nullcontext

import pytest
import torch

from gleanvid.evaluation.check.reference import hook_count, kept_columns
from gleanvid.models import compressing
from tests.models.conftest import few_families
from tests.models.oracle import (
    QUESTIONS,
    Failing,
    Tilted,
    generate,
    masked_logits,
    model_inputs,
    repeats_mix,
    skip_if_repeats_mix,
)

QUARTER = Tilted(retention_ratio=0.25)


def test_hand_written_decoding_loop_uses_the_right_positions(adapter):
    inputs = model_inputs(adapter, QUESTIONS[:1])
    with compressing(adapter.hf_model, QUARTER):
        expected = generate(adapter, inputs)
        output = adapter.hf_model(**inputs, use_cache=True)
        for step, logits in enumerate(expected.logits):
            torch.testing.assert_close(output.logits[:, -1], logits, atol=1e-5, rtol=0)
            token = expected.sequences[:, inputs["input_ids"].shape[1] + step][:, None]
            output = adapter.hf_model(
                input_ids=token, past_key_values=output.past_key_values, use_cache=True
            )


def test_generated_tokens_do_not_depend_on_cache_type_or_number_of_samples(adapter):
    """With top_k=1, two samples of one prompt must be equal."""
    inputs = model_inputs(adapter, QUESTIONS)
    with compressing(adapter.hf_model, QUARTER):
        expected = generate(adapter, inputs).sequences
    ways, static = [{"use_cache": False}], {"cache_implementation": "static"}
    if adapter.layout.windows:
        with (
            pytest.raises(ValueError, match="static cache"),
            compressing(adapter.hf_model, QUARTER),
        ):
            generate(adapter, inputs, **static)
    else:
        ways.append(static)
    if not repeats_mix(adapter, inputs):
        ways.append({"num_return_sequences": 2, "do_sample": True, "top_k": 1})
    for options in ways:
        with compressing(adapter.hf_model, QUARTER) as record:
            output = generate(adapter, inputs, **options)
        repeats = options.get("num_return_sequences", 1)
        assert torch.equal(output.sequences, expected.repeat_interleave(repeats, 0)), options
        assert len(record.prompt_tokens) == len(QUESTIONS) * repeats


def test_beam_search_equals_beam_search_over_the_masked_prompt(adapter):
    """The returned beam has the score that the model gives with the dropped tokens masked."""
    inputs = model_inputs(adapter, QUESTIONS)
    skip_if_repeats_mix(adapter, inputs)
    with compressing(adapter.hf_model, QUARTER) as record:
        output = adapter.hf_model.generate(
            **inputs,
            num_beams=3,
            do_sample=False,
            min_new_tokens=5,
            max_new_tokens=5,
            length_penalty=0.0,
            return_dict_in_generate=True,
            output_scores=True,
        )
    kept = kept_columns(adapter, inputs, [one for (one,) in record.compressions[::3]])
    length = inputs["input_ids"].shape[1]
    steps = output.sequences[:, length:]
    _, decoded = masked_logits(adapter.hf_model, inputs, kept, steps[:, :-1])
    decoded[:, :, adapter.hf_model.generation_config.eos_token_id] = -torch.inf
    scores = decoded.log_softmax(-1).gather(2, steps[..., None]).squeeze(2)
    free = adapter.hf_model.generation_config.eos_token_id
    assert not (steps == free).any()
    # only the reference leaves the end token out of the softmax, so scores differ a little
    assert (output.sequences_scores - scores.sum(1)).abs().max() < 0.05


def test_second_turn_continues_from_the_cache(adapter):
    inputs = model_inputs(adapter, QUESTIONS[:1])
    tail = torch.tensor([[20, 33, 41, 57]])
    with compressing(adapter.hf_model, QUARTER) as record:
        first = adapter.hf_model(**inputs, use_cache=True)
        again = adapter.hf_model(input_ids=tail, past_key_values=first.past_key_values)
    kept = kept_columns(adapter, inputs, [record.compression])
    _, decoded = masked_logits(adapter.hf_model, inputs, kept, tail)
    torch.testing.assert_close(again.logits, decoded[:, 1:], atol=1e-5, rtol=0)


@few_families
def test_hooks_are_removed_after_success_and_after_an_exception(adapter):
    inputs = model_inputs(adapter, QUESTIONS[:1])
    before = hook_count(adapter.hf_model)
    with compressing(adapter.hf_model, QUARTER):
        assert hook_count(adapter.hf_model) > before
        generate(adapter, inputs)
    assert hook_count(adapter.hf_model) == before
    with (
        pytest.raises(RuntimeError, match="compressor failed"),
        compressing(adapter.hf_model, Failing()),
    ):
        generate(adapter, inputs)
    assert hook_count(adapter.hf_model) == before


@pytest.mark.parametrize(
    ("option", "said"),
    [
        ({"prefill_chunk_size": 16}, "chunked prefill"),
        ({"prompt_lookup_num_tokens": 3}, "prompt-lookup"),
        ({"assistant_model": object()}, "assisted"),
    ],
)
def test_generate_options_that_cannot_work_with_compression_are_refused(qwen3, option, said):
    inputs = model_inputs(qwen3, QUESTIONS[:1])
    with pytest.raises(ValueError, match=said), compressing(qwen3.hf_model, QUARTER):
        qwen3.hf_model.generate(**inputs, **option)
    assert "generate" not in vars(qwen3.hf_model)


@pytest.mark.parametrize("option", ["num_beams", "num_return_sequences"])
def test_copies_of_a_prompt_in_a_batch_are_refused_only_for_models_that_mix_up_their_frames(
    adapters, option
):
    """InternVL and GLM-4V mix up frames in some releases of transformers; other models do not."""
    for family in ("internvl", "glm4v", "qwen3_vl"):
        model = adapters[family]
        inputs = model_inputs(model, QUESTIONS)
        mixed = repeats_mix(model, inputs)
        refusal = pytest.raises(ValueError, match=r"(mixes up|loses) the frames")
        with refusal if mixed else nullcontext(), compressing(model.hf_model, QUARTER):
            generate(model, inputs, do_sample=True, **{option: 2})


def test_video_in_a_prompt_that_continues_a_filled_cache_is_refused(qwen3):
    inputs = model_inputs(qwen3, QUESTIONS[:1])
    with compressing(qwen3.hf_model, QUARTER):
        cache = qwen3.hf_model(**inputs, use_cache=True).past_key_values
        with pytest.raises(ValueError, match="on top of a filled cache"):
            qwen3.hf_model(input_ids=inputs["input_ids"], past_key_values=cache)
