"""Compression inside scripts that other people wrote: compiled models, turns, labels, padding.

Each test compares with the prompt whose dropped tokens are masked, at every step.
"""

import sys
import threading
from contextlib import contextmanager

import pytest
import torch

from gleanvid.evaluation.check.reference import original_positions
from gleanvid.models import compressing, load_model
from gleanvid.types import ModelError
from tests.models.conftest import FAMILIES
from tests.models.oracle import (
    QUESTIONS,
    EveryNth,
    generate,
    kept_columns,
    masked_logits,
    model_inputs,
    read_while_decoding,
    unlike_videos,
)
from tests.models.tiny import noise_video

QUARTER = EveryNth(0.25)
SCRIPTED = ["qwen3_vl", "qwen2_5_vl", "llava_onevision", "smolvlm", "internvl", "gemma4"]
scripted = pytest.mark.parametrize(
    "adapter", [family for family in SCRIPTED if family in FAMILIES], indirect=True
)
NEW_IDS = torch.tensor([[20, 33, 41, 57, 61]])


@contextmanager
def compiled(hf_model, way):
    """Compile the model as people do, and undo it."""
    if way == "forward":
        hf_model.forward = torch.compile(hf_model.forward, backend="eager")
    elif way == "model":
        hf_model.compile(backend="eager")
    else:
        hf_model.model.language_model.compile(backend="eager")
    try:
        yield
    finally:
        vars(hf_model).pop("forward", None)
        for module in hf_model.modules():
            module._compiled_call_impl = None
        torch._dynamo.reset()


@pytest.mark.slow  # tracing takes a minute
@pytest.mark.parametrize(
    ("adapter", "way"),
    [(family, "forward") for family in SCRIPTED[:-1]]
    + [("qwen3_vl", "model"), ("llava_onevision", "language_model")],
    indirect=["adapter"],
)
def test_compiled_model_is_compressed_in_every_block_and_only_there(adapter, way):
    inputs = model_inputs(adapter, QUESTIONS[:1])
    with compressing(adapter.hf_model, QUARTER):
        short = generate(adapter, inputs, 2).logits
    plain = generate(adapter, inputs, 2).logits
    assert not torch.allclose(plain[0], short[0], atol=1e-3)
    with compiled(adapter.hf_model, way):
        for compressor in (QUARTER, None, QUARTER, None):
            with compressing(adapter.hf_model, compressor):
                found = generate(adapter, inputs, 2).logits
            expected = plain if compressor is None else short
            torch.testing.assert_close(found, expected, atol=1e-4, rtol=0)


def test_block_runs_a_stale_compiled_model_uncompiled(qwen3):
    """A compiled function that does not know of the hooks, as torch leaves it behind."""
    inputs = model_inputs(qwen3, QUESTIONS[:1])
    stale = []

    def backend(graph, _):
        return lambda *args: stale.append(1) or graph(*args)

    lm = qwen3.layout.language_model
    lm.norm.compile(backend=backend)  # a small part, which is traced quickly
    try:
        qwen3.hf_model(**inputs)
        assert stale
        stale.clear()
        with compressing(qwen3.hf_model, QUARTER):
            qwen3.hf_model(**inputs)
        assert not stale
        qwen3.hf_model(**inputs)
        assert stale
    finally:
        lm.norm._compiled_call_impl = None
        torch._dynamo.reset()


@scripted
def test_loss_is_that_of_the_labels_left(adapter):
    inputs = model_inputs(adapter, QUESTIONS[:1])
    ids = inputs["input_ids"]
    labels = ids.masked_fill(ids == adapter.layout.video_token_id, -100)
    with compressing(adapter.hf_model, QUARTER) as record:
        output = adapter.hf_model(**inputs, labels=labels)
        (columns,) = record.prompt_keep
    assert output.logits.shape[1] == len(columns)
    left = labels[0, columns]
    assert int((left != -100).sum()) == int((labels != -100).sum())
    expected = torch.nn.functional.cross_entropy(output.logits[0, :-1], left[1:])
    torch.testing.assert_close(output.loss, expected)
    whole = adapter.hf_model(**inputs, labels=labels)
    assert whole.logits.shape[1] == ids.shape[1] and not torch.isclose(whole.loss, output.loss)


def test_logits_that_count_in_the_long_prompt_are_refused(qwen3):
    inputs = model_inputs(qwen3, QUESTIONS[:1])
    length = inputs["input_ids"].shape[1]
    with compressing(qwen3.hf_model, QUARTER):
        assert qwen3.hf_model(**inputs, logits_to_keep=2).logits.shape[1] == 2
        for asked in (torch.tensor([length - 20]), length - 1):
            with pytest.raises(ValueError, match=r"record\.prompt_keep"):
                qwen3.hf_model(**inputs, logits_to_keep=asked)


@scripted
def test_batch_padded_on_the_right_stays_so(adapter):
    inputs = model_inputs(adapter, QUESTIONS, unlike_videos(adapter))
    per_token = ("input_ids", "attention_mask", "mm_token_type_ids")
    pads = (inputs["attention_mask"] == 0).sum(1).tolist()
    assert max(pads) > 0
    right = {
        name: torch.stack([row.roll(-pad) for row, pad in zip(rows, pads, strict=True)])
        if name in per_token
        else rows
        for name, rows in inputs.items()
    }
    with compressing(adapter.hf_model, QUARTER) as record:
        logits = adapter.hf_model(**right).logits
    for row, columns in enumerate(record.prompt_keep):
        alone = model_inputs(
            adapter, QUESTIONS[row : row + 1], unlike_videos(adapter)[row : row + 1]
        )
        with compressing(adapter.hf_model, QUARTER):
            expected = adapter.hf_model(**alone).logits[0]
        assert len(columns) == len(expected)
        torch.testing.assert_close(logits[row, : len(columns)], expected, atol=1e-4, rtol=0)


def run_past_the_hooks(adapter, inputs, strict):
    with compressing(adapter.hf_model, QUARTER, strict=strict):
        adapter.layout.language_model._forward_pre_hooks.clear()
        adapter.hf_model(**inputs)


def test_block_that_compressed_nothing_says_so(qwen3):
    inputs = model_inputs(qwen3, QUESTIONS[:1])
    with pytest.raises(ModelError, match="nothing was compressed"):
        run_past_the_hooks(qwen3, inputs, strict=True)
    run_past_the_hooks(qwen3, inputs, strict=False)
    with compressing(qwen3.hf_model, QUARTER):  # text alone
        qwen3.hf_model(input_ids=NEW_IDS)


class Wrapper(torch.nn.Module):
    def __init__(self, inner):
        super().__init__()
        self.model, self.config = inner, inner.config


@pytest.mark.parametrize(
    ("part", "said"),
    [
        (lambda adapter: adapter.hf_model.model, "pass the whole model"),
        (lambda adapter: Wrapper(adapter.hf_model), "pass the whole model"),
        (lambda adapter: adapter.hf_model.model.language_model, "text-only"),
        (lambda adapter: adapter, "pass its hf_model"),
        (lambda adapter: adapter.processor, "not a transformers model"),
    ],
)
def test_anything_but_the_whole_model_is_refused_in_a_sentence(qwen3, part, said):
    with pytest.raises(ModelError, match=said), compressing(part(qwen3), QUARTER):
        pass


def test_model_without_a_chat_template_and_a_model_in_the_place_of_a_name_are_refused(
    qwen3, monkeypatch
):
    with pytest.raises(TypeError, match=r"gleanvid\.compressing"):
        load_model(qwen3.hf_model)
    monkeypatch.setattr(qwen3.processor, "chat_template", None)
    with pytest.raises(ModelError, match="no chat template"):
        qwen3.chat_text(noise_video(), "what?", ())


def test_packed_rows_are_refused(qwen3):
    inputs = model_inputs(qwen3, QUESTIONS[:1])
    positions = original_positions(qwen3.hf_model, inputs)
    twice = {
        name: torch.cat([rows, rows], 1 if name in ("input_ids", "mm_token_type_ids") else 0)
        for name, rows in inputs.items()
        if name != "attention_mask"
    }
    packed = pytest.raises(ValueError, match="packed sequences")
    with packed, compressing(qwen3.hf_model, QUARTER):
        qwen3.hf_model(**twice, position_ids=torch.cat([positions, positions], 2))


@scripted
def test_video_with_the_positions_of_text_is_refused(adapter):
    model, inputs = adapter.hf_model, model_inputs(adapter, QUESTIONS[:1])
    ids = inputs["input_ids"]
    if not hasattr(adapter.layout.core, "get_rope_index"):
        pytest.skip("this family has no multimodal positions")
    without = {name: value for name, value in inputs.items() if name != "mm_token_type_ids"}
    embedded = inputs | {"input_ids": None, "inputs_embeds": model.get_input_embeddings()(ids)}
    with compressing(model, QUARTER):
        for way in (
            lambda: generate(adapter, without, 2),
            lambda: model(**without),
            lambda: model(**embedded),
            lambda: model(**inputs, position_ids=torch.arange(ids.shape[1])[None]),
        ):
            with pytest.raises(ValueError, match="mm_token_type_ids"):
                way()
        generate(adapter, inputs, 2)


@scripted
def test_mask_that_hides_visual_tokens_is_refused(adapter):
    inputs = model_inputs(adapter, QUESTIONS[:1])
    positions = original_positions(adapter.hf_model, inputs)
    mask = inputs["attention_mask"].clone()
    mask[0, (inputs["input_ids"][0] == adapter.layout.video_token_id).nonzero()[5]] = 0
    hidden = pytest.raises(ValueError, match="hides tokens of a video")
    with hidden, compressing(adapter.hf_model, QUARTER):
        adapter.hf_model(**inputs | {"attention_mask": mask, "position_ids": positions})


@scripted
def test_mask_that_is_more_than_causal_is_refused(adapter):
    if adapter.layout.masked:
        pytest.skip("this family makes such masks itself")
    inputs = model_inputs(adapter, QUESTIONS[:1])
    length = inputs["input_ids"].shape[1]
    causal = torch.ones(length, length, dtype=torch.bool).tril()
    near = causal & ~causal.tril(-length // 2)
    positions = original_positions(adapter.hf_model, inputs)
    with compressing(adapter.hf_model, QUARTER):
        expected = adapter.hf_model(**inputs, position_ids=positions).logits
        given = {**inputs, "attention_mask": causal[None, None], "position_ids": positions}
        found = adapter.hf_model(**given, use_cache=False).logits
        torch.testing.assert_close(found, expected, atol=1e-5, rtol=0)
        with pytest.raises(ValueError, match="not causal"):
            adapter.hf_model(**given | {"attention_mask": near[None, None]}, use_cache=False)


def test_shifted_labels_give_the_loss_of_the_labels(qwen3):
    inputs = model_inputs(qwen3, QUESTIONS[:1])
    ids = inputs["input_ids"]
    labels = ids.masked_fill(ids == qwen3.layout.video_token_id, -100)
    shifted = torch.nn.functional.pad(labels, (0, 1), value=-100)[:, 1:]
    with compressing(qwen3.hf_model, QUARTER):
        expected = qwen3.hf_model(**inputs, labels=labels).loss
        found = qwen3.hf_model(**inputs, labels=labels, shift_labels=shifted).loss
    torch.testing.assert_close(found, expected)


def test_threads_in_one_block_take_turns(qwen3):
    asked = [model_inputs(qwen3, [question]) for question in QUESTIONS]
    found = {}
    interval = sys.getswitchinterval()
    with compressing(qwen3.hf_model, QUARTER):
        expected = [generate(qwen3, inputs, 3).logits for inputs in asked]
        work = [
            threading.Thread(target=lambda n=n: found.update({n: generate(qwen3, asked[n], 3)}))
            for n in (0, 1)
        ]
        sys.setswitchinterval(1e-5)
        try:
            for thread in work:
                thread.start()
            for thread in work:
                thread.join()
        finally:
            sys.setswitchinterval(interval)
        with pytest.raises(ValueError, match="prompt_keep"):  # a call that fails lets others in
            qwen3.hf_model(**asked[0], logits_to_keep=torch.tensor([1]))
    assert not qwen3.hf_model._forward_hooks
    for n in (0, 1):
        torch.testing.assert_close(found[n].logits, expected[n])


@scripted
def test_block_under_autocast_agrees_with_the_masked_prompt(adapter):
    inputs = model_inputs(adapter, QUESTIONS[:1])
    with torch.autocast("cpu", torch.bfloat16), torch.inference_mode():
        with compressing(adapter.hf_model, QUARTER) as record:
            output = generate(adapter, inputs, 3)
        kept = kept_columns(adapter, inputs, [record.compression])
        steps = read_while_decoding(output, inputs)
        _, expected = masked_logits(adapter.hf_model, inputs, kept, steps)
        _, whole = masked_logits(adapter.hf_model, inputs, inputs["attention_mask"].bool(), steps)
    found = torch.stack(output.logits, 1)
    assert (found - expected).abs().mean() < 0.1 * (found - whole).abs().mean()
