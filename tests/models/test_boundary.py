"""The boundary against the masked-attention oracle, and everything generate() can do."""

from __future__ import annotations

import pytest
import torch

from gleanvid.compressors.full_tokens import FullTokens
from gleanvid.models import compressing
from gleanvid.models.boundary.sequence import find_videos
from tests.models.oracle import (
    Failing,
    IdentityMerge,
    PairMean,
    Tilted,
    hook_count,
    kept_columns,
    masked_logits,
    model_inputs,
    unlike_videos,
)
from tests.models.tiny import noise_video

QUARTER = Tilted(retention_ratio=0.25)
QUESTIONS = ["what moves?", "which colour is the video, and what is it that moves in it?"]


def generate(adapter, inputs, new=6, **options):
    options = {"do_sample": False, "min_new_tokens": new, "max_new_tokens": new} | options
    return adapter.hf_model.generate(
        **inputs, **options, return_dict_in_generate=True, output_logits=True
    )


@pytest.mark.parametrize("rows", [1, 2])
def test_keeping_all_is_bit_identical(adapter, rows):
    inputs = model_inputs(adapter, QUESTIONS[:rows])
    plain = generate(adapter, inputs)
    with compressing(adapter.hf_model, FullTokens()) as record:
        same = generate(adapter, inputs)
    assert torch.equal(plain.sequences, same.sequences)
    assert all(torch.equal(a, b) for a, b in zip(plain.logits, same.logits, strict=True))
    assert record.prompt_tokens == record.prompt_tokens_kept


@pytest.mark.parametrize("rows", [1, 2])
def test_a_quarter_equals_the_masked_oracle(adapter, rows):
    videos = unlike_videos(adapter)[:rows]  # ragged kept counts
    inputs = model_inputs(adapter, QUESTIONS[:rows], videos)
    with compressing(adapter.hf_model, QUARTER) as record:
        output = generate(adapter, inputs)
        prefill = adapter.hf_model(**inputs).logits
    records = record.compression if rows > 1 else [record.compression]
    assert len({r.num_kept for r in records}) == rows
    kept = kept_columns(adapter, inputs, records)
    assert kept.sum(1).tolist() == record.prompt_tokens_kept
    steps = output.sequences[:, inputs["input_ids"].shape[1] :][:, :-1]
    whole, decoded = masked_logits(adapter.hf_model, inputs, kept, steps)
    for row in range(rows):
        ours = prefill[row, -int(kept[row].sum()) :]
        torch.testing.assert_close(ours, whole[row][kept[row]], atol=1e-5, rtol=0)
    torch.testing.assert_close(torch.stack(output.logits, 1), decoded, atol=1e-5, rtol=0)


def test_compacted_positions_would_be_found(adapter):
    """The negative control: the same tokens at other positions give other logits."""
    inputs = model_inputs(adapter, QUESTIONS[:1])
    seen = []

    def compact(module, args, kwargs):
        length = kwargs["inputs_embeds"].shape[1]
        seen.append(length)
        positions = torch.arange(length).expand_as(kwargs["position_ids"])
        return args, kwargs | {"position_ids": positions}

    with compressing(adapter.hf_model, QUARTER):
        right = adapter.hf_model(**inputs).logits
        handle = adapter.layout.language_model.register_forward_pre_hook(compact, with_kwargs=True)
        wrong = adapter.hf_model(**inputs).logits
        handle.remove()
    assert seen == [right.shape[1]]
    assert (right - wrong).abs().max() > 0.05


def test_deepstack_rows_follow_their_tokens(qwen3):
    """Without the deep levels the logits are far off, so the oracle above tests them too."""
    inputs = model_inputs(qwen3, QUESTIONS[:1])

    def flat(module, args, kwargs):
        return args, kwargs | {"deepstack_visual_embeds": None}

    with compressing(qwen3.hf_model, QUARTER):
        right = qwen3.hf_model(**inputs).logits
        handle = qwen3.layout.language_model.register_forward_pre_hook(flat, with_kwargs=True)
        wrong = qwen3.hf_model(**inputs).logits
        handle.remove()
    assert (right - wrong).abs().max() > 0.05


def test_a_hand_written_loop_decodes_at_the_right_positions(adapter):
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


@pytest.mark.parametrize(
    "options",
    [
        {"cache_implementation": "static"},
        {"use_cache": False},
        {"num_return_sequences": 2, "do_sample": True, "top_k": 1},
    ],
    ids=["static", "no-cache", "sampling"],
)
@pytest.mark.parametrize("rows", [1, 2])
def test_other_ways_to_generate_agree(adapter, options, rows):
    inputs = model_inputs(adapter, QUESTIONS[:rows])
    with compressing(adapter.hf_model, QUARTER) as record:
        expected = generate(adapter, inputs)
        output = generate(adapter, inputs, **options)
    repeats = options.get("num_return_sequences", 1)
    wanted = expected.sequences.repeat_interleave(repeats, 0)
    assert torch.equal(output.sequences, wanted)
    assert len(record.prompt_tokens) == rows * repeats


def test_beams_equal_beams_over_the_masked_prompt(adapter):
    """One beam search by generate(), its winner scored step by step by the oracle."""
    inputs = model_inputs(adapter, QUESTIONS)
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
    kept = kept_columns(adapter, inputs, record.compression[::3])
    length = inputs["input_ids"].shape[1]
    steps = output.sequences[:, length:]
    _, decoded = masked_logits(adapter.hf_model, inputs, kept, steps[:, :-1])
    decoded[:, :, adapter.hf_model.generation_config.eos_token_id] = -torch.inf
    scores = decoded.log_softmax(-1).gather(2, steps[..., None]).squeeze(2)
    free = adapter.hf_model.generation_config.eos_token_id
    assert not (steps == free).any()
    # min_new_tokens forbids the end token after the log-softmax, so allow for its mass
    assert (output.sequences_scores - scores.sum(1)).abs().max() < 0.05


def test_merging_into_itself_changes_nothing(adapter):
    inputs = model_inputs(adapter, QUESTIONS[:1])
    plain = adapter.hf_model(**inputs).logits
    with compressing(adapter.hf_model, IdentityMerge()):
        merged = adapter.hf_model(**inputs).logits
    assert torch.equal(plain, merged)


def test_merged_rows_reach_the_language_model_and_every_level(qwen3):
    inputs = model_inputs(qwen3, QUESTIONS)
    seen = []

    def look(module, args, kwargs):
        names = ("inputs_embeds", "visual_pos_masks", "deepstack_visual_embeds", "position_ids")
        seen.append({name: kwargs[name] for name in names})

    hooks = qwen3.layout.language_model
    handle = hooks.register_forward_pre_hook(look, with_kwargs=True)
    qwen3.hf_model(**inputs)
    handle.remove()
    with compressing(qwen3.hf_model, PairMean()):
        handle = hooks.register_forward_pre_hook(look, with_kwargs=True)
        qwen3.hf_model(**inputs)
        handle.remove()
    full, short = seen
    count = int(full["visual_pos_masks"][0].sum())
    for before, after in [
        (
            full["inputs_embeds"][full["visual_pos_masks"]],
            short["inputs_embeds"][short["visual_pos_masks"]],
        ),
        *zip(full["deepstack_visual_embeds"], short["deepstack_visual_embeds"], strict=True),
    ]:
        for old, new in zip(before.split(count), after.split(count // 2), strict=True):
            expected = old.view(count // 2, 2, -1).mean(1)
            torch.testing.assert_close(new, expected, atol=1e-6, rtol=0)
    rows = full["position_ids"][-3:, full["visual_pos_masks"]].view(3, 2, count)[..., ::2]
    assert torch.equal(short["position_ids"][:, short["visual_pos_masks"]].view_as(rows), rows)


def test_two_videos_in_one_prompt_are_compressed_each_by_itself(qwen3):
    videos = [noise_video(4), noise_video(2, 64, 64, seed=4)]
    parts = [dict(qwen3.build_inputs(v, qwen3._render(v, "what?", ()), None)) for v in videos]
    along = {"pixel_values_videos": 0, "video_grid_thw": 0}
    inputs = {
        name: torch.cat([part[name] for part in parts], along.get(name, 1)) for name in parts[0]
    }
    with compressing(qwen3.hf_model, QUARTER) as record:
        logits = qwen3.hf_model(**inputs).logits
    assert [one.num_tokens for one in record.compression] == [12, 4]
    both = torch.cat([one.mask for one in record.compression])
    kept = inputs["attention_mask"].bool()
    kept[inputs["input_ids"] == qwen3.layout.video_token_id] = both
    nothing = inputs["input_ids"][:, :0]
    whole, _ = masked_logits(qwen3.hf_model, inputs, kept, nothing)
    torch.testing.assert_close(logits[0], whole[kept], atol=1e-5, rtol=0)


def test_a_second_turn_on_the_cache_goes_on_where_the_first_ended(adapter):
    inputs = model_inputs(adapter, QUESTIONS[:1])
    tail = torch.tensor([[20, 33, 41, 57]])
    with compressing(adapter.hf_model, QUARTER) as record:
        first = adapter.hf_model(**inputs, use_cache=True)
        again = adapter.hf_model(input_ids=tail, past_key_values=first.past_key_values)
    kept = kept_columns(adapter, inputs, [record.compression])
    _, decoded = masked_logits(adapter.hf_model, inputs, kept, tail)
    torch.testing.assert_close(again.logits, decoded[:, 1:], atol=1e-5, rtol=0)


def test_prompts_without_a_video_pass_untouched(adapter):
    ids = torch.arange(20)[None] + 20
    plain = adapter.hf_model.generate(input_ids=ids, max_new_tokens=4, do_sample=False)
    inputs = model_inputs(adapter, QUESTIONS[:1])
    with compressing(adapter.hf_model, QUARTER):
        generate(adapter, inputs)
        same = adapter.hf_model.generate(input_ids=ids, max_new_tokens=4, do_sample=False)
    assert torch.equal(plain, same)


def test_hooks_are_gone_after_success_and_after_an_exception(adapter):
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
def test_what_cannot_work_is_refused(qwen3, option, said):
    inputs = model_inputs(qwen3, QUESTIONS[:1])
    with (
        pytest.raises(ValueError, match=said),
        compressing(qwen3.hf_model, QUARTER),
    ):
        qwen3.hf_model.generate(**inputs, **option)
    assert "generate" not in vars(qwen3.hf_model)


def test_a_video_on_top_of_a_filled_cache_is_refused(qwen3):
    inputs = model_inputs(qwen3, QUESTIONS[:1])
    with compressing(qwen3.hf_model, QUARTER):
        cache = qwen3.hf_model(**inputs, use_cache=True).past_key_values
        with pytest.raises(ValueError, match="on top of a filled cache"):
            qwen3.hf_model(input_ids=inputs["input_ids"], past_key_values=cache)


def test_layers_beyond_the_model_are_refused(qwen3):
    from gleanvid.compressors.base import Chain

    late = Chain("late", ((99, QUARTER),))
    with pytest.raises(ValueError, match="layer 99"), compressing(qwen3.hf_model, late):
        pass


def test_grids_that_do_not_fit_the_prompt_are_refused():
    visual = torch.zeros(2, 20, dtype=torch.bool)
    visual[0, :12] = visual[1, :10] = True
    for grids in ([(1, 1, 11)], [(1, 2, 5), (1, 3, 4)], [(1, 1, 7)]):
        with pytest.raises(ValueError, match="video"):
            find_videos(visual, grids)
    rows = find_videos(visual, [(1, 3, 4), (1, 2, 5)])
    assert [row[0].grid for row in rows] == [(1, 3, 4), (1, 2, 5)]
    assert [row[0].offset for row in rows] == [0, 12]
