from dataclasses import dataclass
from typing import ClassVar

import pytest
import torch

from gleanvid.compressors.base import Compressor
from gleanvid.evaluation.check.reference import hook_count, token_columns
from gleanvid.models import compressing, load_model
from gleanvid.types import Compression
from tests.compressors.chain import Chain
from tests.models.conftest import DENSE, INSIDE
from tests.models.oracle import QUESTIONS, EveryNth, Failing, generate, model_inputs

HALF = EveryNth(retention_ratio=0.5)
SEEN: list = []


@dataclass(frozen=True)
class Watching(Compressor):
    """Compressor that keeps all tokens and appends the tokens it was given to ``SEEN``."""

    name: ClassVar[str] = "watching"
    paper: ClassVar[str] = "test"

    def _compress(self, tokens):
        SEEN.append(tokens)
        return Compression.pruned(torch.arange(len(tokens)), tokens.grid, num_tokens=len(tokens))


@dataclass(frozen=True)
class WatchingLast(Watching):
    queries: ClassVar[str] = "last"


@dataclass(frozen=True)
class WatchingText(Watching):
    queries: ClassVar[str] = "text"
    over_heads: ClassVar[str] = "max"
    needs: ClassVar[frozenset[str]] = frozenset({"text"})


@pytest.fixture(params=[family for family in DENSE if family in INSIDE])
def adapter(request, adapters):
    return adapters[request.param]


@pytest.fixture(scope="module")
def own():
    """Cache: model name -> the model with eager attention, its inputs, attention, hidden states."""
    return {}


def of_its_own(adapter, own):
    if adapter.name not in own:
        eager = load_model(adapter.name, attn_implementation="eager")
        inputs, entering = model_inputs(eager, QUESTIONS), []
        layer = eager.layout.language_model.layers[2].input_layernorm
        handle = layer.register_forward_pre_hook(lambda module, args: entering.append(args[0]))
        with torch.no_grad():
            attentions = eager.hf_model(**inputs, output_attentions=True).attentions[1]
        handle.remove()
        own[adapter.name] = eager, inputs, attentions, entering[0]
    return own[adapter.name]


@pytest.mark.parametrize(("stage", "behind"), [(WatchingLast(), 1), (WatchingText(), None)])
@pytest.mark.parametrize("attention", ["sdpa", "eager"])
def test_attention_given_to_a_stage_equals_the_model_s_own(adapter, own, stage, behind, attention):
    eager, inputs, attentions, entering = of_its_own(adapter, own)
    model = adapter if attention == "sdpa" else eager
    assert model.hf_model.config._attn_implementation == attention
    SEEN.clear()
    with compressing(model.hf_model, Chain("watch", ((2, stage),))):
        watched = model.hf_model(**inputs).logits
    real = inputs["attention_mask"].bool()
    assert torch.equal(watched[real], model.hf_model(**inputs).logits[real])
    visual = inputs["input_ids"] == model.layout.video_token_id
    assert len(SEEN) == 2
    for row, tokens in enumerate(SEEN):
        columns = token_columns(model, inputs, row, tokens.grid)
        last = int(torch.nonzero(visual[row])[-1]) + 1
        asking = slice(-1, None) if behind else slice(last, None)
        expected = attentions[row][:, asking][..., columns]
        expected = (expected.amax(0) if behind is None else expected.mean(0))[None]
        torch.testing.assert_close(tokens.attention, expected, atol=1e-6, rtol=0)
        hidden = entering[row][columns]
        torch.testing.assert_close(tokens.features, hidden, atol=1e-5, rtol=0)
        if "text" in stage.needs:
            assert len(tokens.text) == tokens.attention.shape[1]


def test_later_compression_stage_gets_the_original_positions_of_its_tokens(adapter):
    inputs = model_inputs(adapter, QUESTIONS[:1])
    SEEN.clear()
    with compressing(adapter.hf_model, Chain("c", ((0, HALF), (3, WatchingLast())))) as record:
        adapter.hf_model(**inputs)
    first = record.compression
    assert torch.equal(SEEN[0].positions, first.keep)
    assert SEEN[0].previous is first
    assert SEEN[0].grid == first.grid


def test_hooks_are_removed_after_a_failing_stage(adapter):
    from transformers.modeling_utils import ALL_ATTENTION_FUNCTIONS

    inputs = model_inputs(adapter, QUESTIONS[:1])
    before = hook_count(adapter.hf_model)
    chain = Chain("fails", ((1, WatchingText()), (3, Failing())))
    with (
        pytest.raises(RuntimeError, match="compressor failed"),
        compressing(adapter.hf_model, chain),
    ):
        generate(adapter, inputs)
    assert hook_count(adapter.hf_model) == before
    assert not ALL_ATTENTION_FUNCTIONS._local_mapping
