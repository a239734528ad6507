"""Compression saves memory even if the model builds a mask [L, L] of the whole prompt."""

import pytest

from gleanvid.models.generation.sampling import Sampling
from tests.models.live import LiveBytes
from tests.models.oracle import EveryNth
from tests.models.test_memory import tensors_in
from tests.models.tiny import noise_video

# All model families for which transformers builds an attention mask [L, L].
PAIRING = ("gemma4", "gemma4_large", "gemma4_unified", "molmo2")
METHODS = {"all tokens": None, "25 %": EveryNth(retention_ratio=0.25)}


def peak_bytes(adapter, frames: int, method) -> tuple[int, int]:
    """Return the peak bytes while a question is answered, and the uncompressed prompt's length."""
    encoded = adapter.encode(noise_video(frames))
    parts = [*adapter.hf_model.parameters(), *adapter.hf_model.buffers()]
    parts += [encoded.tokens.features, *tensors_in(encoded.vision)]
    with LiveBytes(parts) as live:
        answer = adapter.generate(encoded, "what?", method, Sampling(2))
    return live.peak, answer.prompt_tokens


@pytest.mark.parametrize("family", PAIRING)
def test_keeping_a_quarter_needs_less_memory_despite_the_full_attention_mask(adapters, family):
    (whole, columns), (cut, same) = (
        peak_bytes(adapters[family], 16, method) for method in METHODS.values()
    )
    assert columns == same
    # even the compressed run builds the mask of the uncompressed prompt, of L x L bytes
    assert columns**2 < cut < 0.9 * whole
