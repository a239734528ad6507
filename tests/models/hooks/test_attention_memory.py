import pytest
import torch

from gleanvid.models.hooks import attention
from gleanvid.models.hooks.attention import attention_rows, attention_to
from tests.models.live import LiveBytes

HEADS, VIDEO = 4, 60


def attended(question, over_heads):
    """Return the attention of a question to a video before it, [R, V], and as a whole [H, R, V]."""
    prompt = VIDEO + question
    generator = torch.Generator().manual_seed(0)
    query, key = (torch.randn(HEADS, prompt, 8, generator=generator) for _ in "qk")
    where = torch.arange(VIDEO, prompt), torch.ones(prompt, dtype=torch.bool)
    with LiveBytes([query, key]) as held:
        found = attention_to(query, key, None, *where, torch.arange(VIDEO), over_heads)
    return found, attention_rows(query, key, None, *where)[..., :VIDEO], held.largest


@pytest.mark.parametrize("over_heads", ["mean", "max"])
def test_memory_for_the_attention_of_a_question_is_linear_in_its_length(monkeypatch, over_heads):
    monkeypatch.setattr(attention, "CHUNK", 1000)
    sizes = {}
    for question in (50, 100, 400):
        found, whole, sizes[question] = attended(question, over_heads)
        expected = whole.amax(0) if over_heads == "max" else whole.mean(0)
        torch.testing.assert_close(found[0], expected)
    assert sizes[400] <= 8.5 * sizes[50] and sizes[100] <= 2.5 * sizes[50]
