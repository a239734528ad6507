"""Read the queries and keys of chosen attention modules without changing their results.

transformers looks up its attention function by name at every call. While a :data:`Watcher` is
installed, that name leads to a wrapper, which calls the watcher and then the original function.
This works for every model and attention implementation. Modules of the package timm call torch's
attention directly, so for them the calls of torch's function are intercepted.
"""

from __future__ import annotations

import functools
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.functional import scaled_dot_product_attention
from torch.overrides import TorchFunctionMode
from transformers.modeling_utils import ALL_ATTENTION_FUNCTIONS

from gleanvid.devices import without_autocast

CHUNK = 2**22  # number of attention weights that are computed at a time
# function that gets queries, keys and keyword arguments of every call of one attention module
Watcher = Callable[[Tensor, Tensor, dict[str, Any]], None]
_watchers: dict[nn.Module, Watcher] = {}
_installed: dict[str, int] = {}
_lock = threading.Lock()


@contextmanager
def watching(module: nn.Module, watcher: Watcher) -> Iterator[None]:
    """Pass the queries and keys of an attention module to ``watcher`` while the block runs."""
    if not hasattr(module, "config"):
        with _watching_torch(module, watcher):
            yield
        return
    name = str(getattr(module.config, "_attn_implementation", None))
    with _lock:
        _watchers[module] = watcher
        _installed[name] = _installed.get(name, 0) + 1
        if _installed[name] == 1:
            ALL_ATTENTION_FUNCTIONS[name] = _watched(name)
    try:
        yield
    finally:
        with _lock:
            del _watchers[module]
            _installed[name] -= 1
            if not _installed[name]:
                del ALL_ATTENTION_FUNCTIONS[name], _installed[name]


class _TorchAttention(TorchFunctionMode):
    def __init__(self, watcher: Watcher) -> None:
        super().__init__()
        self.watcher = watcher

    def __torch_function__(
        self,
        func: Any,
        types: Any,
        args: tuple[Any, ...] = (),
        kwargs: dict[str, Any] | None = None,
    ) -> Any:
        options = kwargs or {}
        if func is scaled_dot_product_attention:
            self.watcher(args[0], args[1], {"scaling": options.get("scale")})
        return func(*args, **options)


@contextmanager
def _watching_torch(module: nn.Module, watcher: Watcher) -> Iterator[None]:
    original: Any = module.forward

    @functools.wraps(original)
    def forward(*args: Any, **kwargs: Any) -> Any:
        with _TorchAttention(watcher):
            return original(*args, **kwargs)

    module.forward = forward
    try:
        yield
    finally:
        del module.forward


def _watched(name: str) -> Callable[..., Any]:
    original = ALL_ATTENTION_FUNCTIONS.get(name)

    def attention(module: nn.Module, query: Tensor, key: Tensor, *args: Any, **kwargs: Any) -> Any:
        watcher = _watchers.get(module)
        if watcher is not None:
            mask = args[1] if len(args) > 1 else kwargs.get("attention_mask")
            watcher(query, key, {**kwargs, "attention_mask": mask})
        function = original or sys.modules[type(module).__module__].eager_attention_forward
        return function(module, query, key, *args, **kwargs)

    return attention


@without_autocast()
def attention_rows(
    query: Tensor, key: Tensor, scaling: float | None, asking: Tensor, present: Tensor
) -> Tensor:
    """Return float32 [H, R, P], the causal attention of R query tokens to all P tokens.

    Only H * R * P numbers are computed, never P * P.

    Args:
        query: [H, P, d], the queries of H heads for one sequence of P tokens.
        key: [G, S, d], the keys of G key/value heads. Keys after the first P are unused slots of
            a static cache.
        scaling: factor of the attention logits; None: 1 / sqrt(d).
        asking: int64 [R], the indices of the query tokens in the sequence.
        present: bool [P], False on padding.
    """
    heads, length, width = query.shape
    groups = len(key)
    rows = query[:, asking].float().reshape(groups, -1, width)
    logits = rows @ key[:, :length].float().transpose(1, 2)
    logits = logits.view(heads, len(asking), length) * (scaling or width**-0.5)
    seen = torch.arange(length, device=query.device) <= asking[:, None]
    return logits.masked_fill(~(seen & present), -torch.inf).softmax(-1)


def attention_to(
    query: Tensor,
    key: Tensor,
    scaling: float | None,
    asking: Tensor,
    present: Tensor,
    columns: Tensor,
    over_heads: str,
) -> Tensor:
    """Return float32 [1, R, V], the attention of R query tokens to V of the tokens.

    Memory is linear in the length of the prompt: :data:`CHUNK` weights are computed at a time.

    Args:
        query: [H, P, d], as in :func:`attention_rows`.
        key: [G, S, d].
        scaling: factor of the attention logits; None: 1 / sqrt(d).
        asking: int64 [R], the indices of the query tokens in the sequence.
        present: bool [P], False on padding.
        columns: int64 [V], indices of tokens in the sequence.
        over_heads: "mean" or "max", how the weights of all heads are combined.
    """
    parts = []
    for some in asking.split(max(1, CHUNK // (query.shape[0] * query.shape[1]))):
        weights = attention_rows(query, key, scaling, some, present)[..., columns]
        parts.append(weights.amax(0) if over_heads == "max" else weights.mean(0))
    return torch.cat(parts)[None]


@without_autocast()
def attention_received(query: Tensor, key: Tensor, scaling: float | None, chunk: int) -> Tensor:
    """Return float32 [n], the attention that each of n tokens receives.

    This is the mean of softmax(q k^T) over heads and queries. All tokens see each other.
    ``query`` and ``key`` are [H, n, d] for H heads; ``chunk`` queries are processed at a time.
    """
    total = torch.zeros(key.shape[1], device=key.device)
    keys = key.float().transpose(1, 2)
    for rows in query.split(chunk, 1):
        logits = rows.float() @ keys * (scaling or query.shape[-1] ** -0.5)
        total += logits.softmax(-1).sum((0, 1))
    return total / (query.shape[0] * query.shape[1])
