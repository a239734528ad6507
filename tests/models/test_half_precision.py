"""In bfloat16, on the CPU and on CUDA if available, only rounding differs from float32."""

import pytest
import torch

from gleanvid.compressors.full_tokens import FullTokens
from gleanvid.evaluation.check.reference import kept_columns
from gleanvid.models import compressing, load_model
from tests.models.oracle import QUESTIONS, EveryNth, generate, masked_logits, model_inputs


@pytest.fixture(params=["cpu", *["cuda"] * torch.cuda.is_available()])
def half(request, adapter):
    return load_model(adapter.name, device=request.param, dtype="bfloat16")


def placed_inputs(model):
    def placed(value):
        if not torch.is_tensor(value):
            return value
        return value.to(model.device, torch.bfloat16 if value.is_floating_point() else None)

    made = model_inputs(model, QUESTIONS[:1])
    return made, {name: placed(value) for name, value in made.items()}


@torch.no_grad()
def test_keeping_all_tokens_in_half_precision_is_bit_identical(half):
    _, inputs = placed_inputs(half)
    plain = generate(half, inputs, 3)
    with compressing(half.hf_model, FullTokens()):
        same = generate(half, inputs, 3)
    assert all(torch.equal(a, b) for a, b in zip(plain.logits, same.logits, strict=True))


@torch.no_grad()
def test_keeping_a_quarter_in_half_precision_equals_the_masked_prompt_up_to_rounding(half):
    read, inputs = placed_inputs(half)
    with compressing(half.hf_model, EveryNth(retention_ratio=0.25)) as record:
        ours = half.hf_model(**inputs).logits[0]
    kept = kept_columns(half, read, [record.compression.to("cpu")]).to(half.device)
    whole, _ = masked_logits(half.hf_model, inputs, kept, inputs["input_ids"][:, :0])
    expected = whole[0][kept[0]]
    assert (ours - expected).abs().max() < 0.1
    assert (ours - expected).abs().mean() < 0.1 * (ours - expected.roll(1, 0)).abs().mean()
