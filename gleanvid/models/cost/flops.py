"""Prefill cost of a language model by the paper's formula (Eq. llm_flops)."""

from __future__ import annotations

from typing import Any


def prefill_flops(text_config: Any, n: float, *, exact: bool = False) -> float:
    """Multiply-accumulates of the language model reading ``n`` tokens.

    Layers * (2 n d^2 (1 + g/a) + 2 n^2 d + 3 n d m) with hidden size d, MLP width m, a query and g
    key/value heads. No output head, no saving from the causal mask. The formula takes a * head_dim
    for d; ``exact`` puts a * head_dim where projections and attention really have it.
    """
    hidden, width = text_config.hidden_size, text_config.intermediate_size
    heads = text_config.num_attention_heads
    groups = getattr(text_config, "num_key_value_heads", None) or heads
    inner = hidden
    if exact:
        inner = heads * (getattr(text_config, "head_dim", None) or hidden // heads)
    projections = 2 * n * hidden * inner * (1 + groups / heads)
    attention = 2 * n * n * inner
    return text_config.num_hidden_layers * (projections + attention + 3 * n * hidden * width)
