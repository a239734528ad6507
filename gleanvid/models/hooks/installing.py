"""Install the hooks that compress prompts, and remove them even after an exception."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, ExitStack, contextmanager
from typing import Any
from weakref import WeakSet

import torch
from torch import Tensor, nn

from gleanvid.compressors.base import Compressor
from gleanvid.models.hooks.generating import watched_generate
from gleanvid.models.hooks.labels import labels_left, translated_labels
from gleanvid.models.hooks.layers import LayerHooks
from gleanvid.models.hooks.layout import Layout
from gleanvid.models.hooks.prefill import Prefill
from gleanvid.models.hooks.shortening import PromptHook
from gleanvid.models.hooks.turns import refuse_outside
from gleanvid.types import ModelError

_COMPRESSED: WeakSet[Any] = WeakSet()  # models inside a compressing() block
NOTHING_COMPRESSED = (
    "pixels came in, and nothing was compressed: the prompts hold no video, or the model was "
    "called past its hooks (images alone are not compressed); strict=False accepts that"
)


@contextmanager
def compressing(
    hf_model: Any,
    layout: Layout,
    compressor: Compressor | None,
    signals: Mapping[str, Tensor] | None = None,
    strict: bool = True,
) -> Iterator[Prefill]:
    """Compress every video prompt that ``hf_model`` reads while the block runs.

    ``signals`` are vision signals computed earlier ("saliency", "keys"). If ``compressor`` is None,
    no hook is installed. Raises ``ModelError`` if another such block for this model is active, and
    at the end if pixels came in and nothing was compressed (with ``strict``). Within the block, the
    model raises ``ValueError`` for chunked prefill and assisted decoding, and for video tokens in a
    call whose key/value cache is not empty. After it, a cache that holds a compressed prompt raises
    ``ModelError`` until another block continues it.
    """
    if compressor is None:
        yield Prefill()
        return
    check_uncompressed(hf_model)
    hook = prompt_hook(layout, compressor, signals)
    _COMPRESSED.add(hf_model)
    try:
        with installed(hf_model, hook):
            yield hook.prefill
        if strict and hook.saw_pixels and not hook.prefill.stages:
            raise ModelError(NOTHING_COMPRESSED)
    finally:
        _COMPRESSED.discard(hf_model)
        for cache in hook.caches:
            refuse_outside(cache)


def check_uncompressed(hf_model: Any) -> None:
    """Raise ``ModelError`` if the model is inside a ``compressing`` block."""
    if hf_model in _COMPRESSED:
        raise ModelError(
            "This model is already inside a compressing() block: leave that block first."
        )


def prompt_hook(
    layout: Layout, compressor: Compressor | None, signals: Mapping[str, Tensor] | None
) -> PromptHook:
    """Create the hook of ``compressor``; ``ValueError`` if the model lacks the layer of a stage."""
    depth = len(layout.language_model.layers)  # type: ignore[arg-type]
    stages = {} if compressor is None else dict(compressor.at_depth(depth).stages)
    if max(stages, default=0) >= depth:
        raise ValueError(f"stage at layer {max(stages)}: this language model has {depth} layers")
    if layout.ahead_only and max(stages, default=0):
        raise ValueError(
            f"stage at layer {max(stages)}: {layout.ahead_only}, "
            "so only compressors before the language model work"
        )
    prefill = Prefill()
    inside = LayerHooks({layer: stage for layer, stage in stages.items() if layer}, prefill)
    hook = PromptHook(layout, stages.get(0), inside, prefill)
    hook.signals.update(signals or {})
    return hook


@contextmanager
def installed(hf_model: Any, hook: PromptHook) -> Iterator[None]:
    """Install ``hook`` while the block runs.

    The state of the latest prefill stays in ``hook``, which can be installed again to continue.
    """
    layout, language_model = hook.layout, hook.layout.language_model
    with ExitStack() as stack:
        stack.enter_context(eager())
        stack.enter_context(_one_call_at_a_time(hf_model, hook))
        stack.enter_context(watched_generate(hf_model, hook))
        stack.enter_context(
            translated_labels(hf_model, lambda *given: labels_left(hook.left, *given))
        )
        for module, function in (
            (hf_model, hook.before_model),
            (layout.core, hook.before_core),
            (language_model, hook.before_language_model),
        ):
            stack.enter_context(module.register_forward_pre_hook(function, with_kwargs=True))
        after = hook.after_language_model
        stack.enter_context(language_model.register_forward_hook(after, with_kwargs=True))
        stack.enter_context(positions_stay_out(language_model))
        if not hook.collector.needs <= set(hook.signals):
            stack.enter_context(hook.collector.collecting())
        if hook.layers.stages:
            stack.enter_context(hook.layers.installed(layout.language_model))
        yield


@contextmanager
def _one_call_at_a_time(hf_model: Any, hook: PromptHook) -> Iterator[None]:
    """Let a second thread that calls the model wait: a prompt's state belongs to one call."""

    def enter(module: nn.Module, args: tuple[Any, ...]) -> None:
        hook.lock.acquire()

    def leave(module: nn.Module, args: tuple[Any, ...], output: Any) -> None:
        hook.lock.release()

    with (
        hf_model.register_forward_pre_hook(enter, prepend=True),
        hf_model.register_forward_hook(leave, always_call=True),
    ):
        yield


def eager() -> AbstractContextManager[None]:
    """Run compiled models uncompiled while the block runs.

    Code that ``torch.compile`` made before a hook was installed does not call the hook, and torch
    2.15 does not notice (``torch._dynamo.config.skip_nnmodule_hook_guards``).
    """
    return torch.compiler.set_stance("force_eager")


@contextmanager
def positions_stay_out(language_model: Any) -> Iterator[None]:
    """Keep positions from FlashAttention, which reads gaps in them as borders of packed sequences.

    The result would be the same, at the cost of a device-to-host sync in every layer. Rotary tables
    are made before the layers.
    """

    def drop(module: nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        return args, kwargs | {"position_ids": None}

    flash = "flash" in str(getattr(language_model.config, "_attn_implementation", ""))
    with ExitStack() as stack:
        for layer in language_model.layers if flash else ():
            stack.enter_context(layer.register_forward_pre_hook(drop, with_kwargs=True))
        yield


@contextmanager
def last_logits_only(hf_model: Any, count: int = 1) -> Iterator[None]:
    """Compute logits for the last ``count`` tokens only, while the block runs.

    Most model classes have an argument for this, ``logits_to_keep``. The classes of VideoLLaMA3,
    Qwen3-Omni and MiniCPM-V compute the logits of the whole prompt.
    """

    def cut(module: Any, args: tuple[Any, ...]) -> tuple[Any, ...]:
        return (args[0][:, -count:], *args[1:])

    with hf_model.get_output_embeddings().register_forward_pre_hook(cut):
        yield
