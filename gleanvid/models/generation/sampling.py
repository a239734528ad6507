"""How the next token is chosen."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import torch
from transformers import GenerationConfig


def generation_config(max_new_tokens: int, temperature: float, top_p: float) -> GenerationConfig:
    """Every sampling setting stated, so that the checkpoint's own do not come back in."""
    if temperature <= 0:
        return GenerationConfig(
            max_new_tokens=max_new_tokens, do_sample=False, temperature=1.0, top_p=1.0, top_k=50
        )
    return GenerationConfig(
        max_new_tokens=max_new_tokens, do_sample=True, temperature=temperature, top_p=top_p, top_k=0
    )


@contextmanager
def seeded(seed: int | None, device: torch.device) -> Iterator[None]:
    """Sampling from ``seed``, the process's own generators left as they were."""
    if seed is None:
        yield
        return
    devices = [device] if device.type == "cuda" else []
    with torch.random.fork_rng(devices):
        torch.manual_seed(seed)
        yield
