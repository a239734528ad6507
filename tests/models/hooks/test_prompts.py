"""Compression before the language model gives the same logits as masked attention."""

import pytest
import torch

from gleanvid.compressors.full_tokens import FullTokens
from gleanvid.evaluation.check.reference import (
    compact_positions,
    kept_columns,
    language_model_calls,
    original_positions,
)
from gleanvid.models import compressing
from gleanvid.models.hooks.sequence import find_videos
from tests.compressors.chain import Chain
from tests.models.oracle import (
    QUESTIONS,
    IdentityMerge,
    PairMean,
    Tilted,
    generate,
    masked_logits,
    model_inputs,
    read_while_decoding,
    unlike_videos,
)
from tests.models.tiny import noise_video

QUARTER = Tilted(retention_ratio=0.25)


def prefill_logits(adapter, inputs):
    """Return the logits of one forward pass over the prompt, [batch, prompt, vocabulary].

    Positions are passed because some model families would otherwise count a prompt's left padding.
    """
    positions = original_positions(adapter.hf_model, inputs)
    return adapter.hf_model(**inputs, position_ids=positions).logits


@pytest.fixture
def adapter(oracle_adapter):
    return oracle_adapter


@pytest.mark.parametrize("rows", [1, 2])
def test_output_with_all_tokens_kept_is_bit_identical_to_that_of_the_plain_model(
    every_adapter, rows
):
    adapter = every_adapter
    inputs = model_inputs(adapter, QUESTIONS[:rows])
    plain = generate(adapter, inputs)
    with compressing(adapter.hf_model, FullTokens()) as record:
        same = generate(adapter, inputs)
    assert torch.equal(plain.sequences, same.sequences)
    assert all(torch.equal(a, b) for a, b in zip(plain.logits, same.logits, strict=True))
    assert record.prompt_tokens == record.prompt_tokens_kept


@pytest.mark.parametrize("rows", [1, 2])
def test_keeping_a_quarter_gives_the_logits_of_the_prompt_with_the_rest_masked(adapter, rows):
    videos = unlike_videos(adapter)[:rows]  # the two prompts keep different numbers of tokens
    inputs = model_inputs(adapter, QUESTIONS[:rows], videos)
    with compressing(adapter.hf_model, QUARTER) as record:
        output = generate(adapter, inputs)
        prefill = adapter.hf_model(**inputs).logits
    records = [one for (one,) in record.compressions]
    assert len({r.num_kept for r in records}) == rows
    kept = kept_columns(adapter, inputs, records)
    assert kept.sum(1).tolist() == record.prompt_tokens_kept
    steps = read_while_decoding(output, inputs)
    whole, decoded = masked_logits(adapter.hf_model, inputs, kept, steps)
    for row in range(rows):
        ours = prefill[row, -int(kept[row].sum()) :]
        torch.testing.assert_close(ours, whole[row][kept[row]], atol=1e-5, rtol=0)
    torch.testing.assert_close(torch.stack(output.logits, 1), decoded, atol=1e-5, rtol=0)


def test_renumbering_the_kept_positions_changes_the_logits(adapter):
    inputs = model_inputs(adapter, QUESTIONS[:1])
    with compressing(adapter.hf_model, QUARTER):
        right = adapter.hf_model(**inputs).logits
        with compact_positions(adapter):
            wrong = adapter.hf_model(**inputs).logits
    assert right.shape == wrong.shape
    assert (right - wrong).abs().max() > 0.05


def test_deepstack_features_follow_their_tokens(qwen3):
    """Logits change without DeepStack features, so comparisons of logits test these, too."""
    inputs = model_inputs(qwen3, QUESTIONS[:1])

    def flat(module, args, kwargs):
        return args, kwargs | {"deepstack_visual_embeds": None}

    with compressing(qwen3.hf_model, QUARTER):
        right = qwen3.hf_model(**inputs).logits
        handle = qwen3.layout.language_model.register_forward_pre_hook(flat, with_kwargs=True)
        wrong = qwen3.hf_model(**inputs).logits
        handle.remove()
    assert (right - wrong).abs().max() > 0.05


def test_merging_each_token_into_itself_is_bit_identical(adapter):
    inputs = model_inputs(adapter, QUESTIONS[:1])
    plain = adapter.hf_model(**inputs).logits
    with compressing(adapter.hf_model, IdentityMerge()):
        merged = adapter.hf_model(**inputs).logits
    assert torch.equal(plain, merged)


def test_merged_tokens_reach_the_language_model_and_every_deepstack_level(qwen3):
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


def test_two_videos_in_one_prompt_are_compressed_separately(qwen3):
    videos = [noise_video(4), noise_video(2, 64, 64, seed=4)]
    parts = [dict(qwen3.build_inputs(v, qwen3.chat_text(v, "what?", ()), None)) for v in videos]
    along = {"pixel_values_videos": 0, "video_grid_thw": 0}
    inputs = {
        name: torch.cat([part[name] for part in parts], along.get(name, 1)) for name in parts[0]
    }
    with compressing(qwen3.hf_model, QUARTER) as record:
        logits = qwen3.hf_model(**inputs).logits
    assert [one.num_tokens for one in record.compressions[0]] == [12, 4]
    both = torch.cat([one.mask for one in record.compressions[0]])
    kept = inputs["attention_mask"].bool()
    kept[inputs["input_ids"] == qwen3.layout.video_token_id] = both
    nothing = inputs["input_ids"][:, :0]
    whole, _ = masked_logits(qwen3.hf_model, inputs, kept, nothing)
    torch.testing.assert_close(logits[0], whole[kept], atol=1e-5, rtol=0)


def test_prompts_without_a_video_are_left_unchanged(adapter):
    ids = torch.arange(20)[None] + 20
    plain = adapter.hf_model.generate(input_ids=ids, max_new_tokens=4, do_sample=False)
    inputs = model_inputs(adapter, QUESTIONS[:1])
    with compressing(adapter.hf_model, QUARTER):
        generate(adapter, inputs)
        same = adapter.hf_model.generate(input_ids=ids, max_new_tokens=4, do_sample=False)
    assert torch.equal(plain, same)


def test_stage_at_a_layer_beyond_the_model_is_refused(qwen3):
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


@pytest.mark.parametrize(
    "oracle_adapter", ["qwen3_vl", "llava_onevision", "smolvlm"], indirect=True
)
def test_oracle_prefill_gives_a_left_padded_prompt_its_unpadded_positions_and_logits(adapter):
    videos = [noise_video(4, seed=number) for number in range(2)]
    batch = model_inputs(adapter, QUESTIONS, videos)
    assert not bool(batch["attention_mask"].all())
    with torch.no_grad(), language_model_calls(adapter) as calls:
        together = prefill_logits(adapter, batch)
        for row, (question, video) in enumerate(zip(QUESTIONS, videos, strict=True)):
            alone = prefill_logits(adapter, model_inputs(adapter, [question], [video]))[0]
            torch.testing.assert_close(together[row, -len(alone) :], alone, atol=1e-5, rtol=0)
            padded, whole = calls[0]["position_ids"], calls[-1]["position_ids"]
            assert torch.equal(padded[..., row, -len(alone) :], whole[..., 0, :])
