"""Run the vision tower and projector once per video, and reuse the output for all questions."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

import torch
from torch import Tensor, nn

from gleanvid.models.hooks.arguments import expand_positions
from gleanvid.models.hooks.layout import Layout
from gleanvid.models.hooks.sequence import find_videos
from gleanvid.models.hooks.signals import VisionSignals


class _ReachedError(Exception):
    """Raised to end a forward pass before the language model."""


def capture_vision(
    layout: Layout, inputs: dict[str, Any], needs: frozenset[str] = frozenset()
) -> tuple[Tensor, Any, dict[str, Tensor]]:
    """Run the model up to the call of its language model; return the visual tokens.

    Args:
        layout: the parts of the model.
        inputs: one prompt with one video.
        needs: names of the vision signals to compute.

    Returns:
        The features [V, D] of the grid's V tokens exactly as the language model would receive them,
        the output of the vision side for :func:`remembered_vision`, and the signals by name.
    """
    outputs: list[Any] = []
    signals = VisionSignals(layout, needs)
    with _answered(layout, outputs), signals.collecting(), layout.in_chunks():
        reached = _reach(layout, inputs)["inputs_embeds"]
    visual = layout.visual_columns(inputs["input_ids"], None).to(reached.device)
    grids = layout.grids(inputs)
    video = find_videos(visual, grids, layout.sides)[0][0]
    output = _lighter(outputs[0])
    return (
        _stored_once(reached[0, video.columns], output),
        output,
        signals.take(grids, inputs["input_ids"]),
    )


def _stored_once(rows: Tensor, output: Any) -> Tensor:
    """Return the features ``rows`` [V, D], so that they and ``output`` share memory.

    If ``output`` holds the same values in one tensor, a view of it is returned. If it holds them in
    several tensors, these are replaced by views of ``rows``.
    """
    pooled = getattr(output, "pooler_output", None)
    if isinstance(pooled, (list, tuple)) and len(pooled) > 1:
        sizes = [len(part) for part in pooled]
        if sum(sizes) == len(rows) and torch.equal(torch.cat(list(pooled)).to(rows), rows):
            output.pooler_output = type(pooled)(rows.split(sizes))
        return rows
    for part in pooled if isinstance(pooled, (list, tuple)) else (pooled,):
        if isinstance(part, Tensor) and (part.device, part.dtype) == (rows.device, rows.dtype):
            found = part.flatten(0, -2)[: len(rows)]
            if torch.equal(found, rows):
                return found
    return rows


def _lighter(output: Any) -> Any:
    """Return the output of the vision side without hidden states and attentions."""
    pooled = getattr(output, "pooler_output", None)
    if pooled is None:
        return output
    inner = ("last_hidden_state", "hidden_states", "attentions")
    lighter = type(output)(**{n: None if n in inner else value for n, value in output.items()})
    # Set an attribute, as the output class of VideoLLaMA3 has no field pooler_output.
    lighter.pooler_output = pooled.contiguous() if isinstance(pooled, Tensor) else pooled
    return lighter


def prompt_positions(layout: Layout, inputs: dict[str, Any]) -> Tensor:
    """Return the positions [S, L] of a prompt's L tokens; S: 3 (time, height, width), or 1."""
    reached = _reach(layout, inputs)
    rows, length = reached["inputs_embeds"].shape[:2]
    device = reached["inputs_embeds"].device
    positions = expand_positions(reached.get("position_ids"), rows, length, device)
    return positions[:, 0] if positions.ndim == 3 else positions


def _reach(layout: Layout, inputs: dict[str, Any]) -> dict[str, Any]:
    """Return the arguments with which the language model would be called."""
    reached: dict[str, Any] = {}

    def stop(module: nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        reached.update(kwargs)
        raise _ReachedError

    hook = layout.language_model.register_forward_pre_hook(stop, with_kwargs=True)
    with hook, suppress(_ReachedError):
        layout.core(**inputs, use_cache=False)
    return reached


@contextmanager
def remembered_vision(layout: Layout, output: Any) -> Iterator[None]:
    """While the block runs, let the vision side return ``output`` instead of reading pixels."""
    with _answered(layout, [output]):
        yield


@contextmanager
def _answered(layout: Layout, outputs: list[Any]) -> Iterator[None]:
    """While the block runs, let the vision method return ``outputs[0]``.

    If ``outputs`` is empty, the first call runs the method and stores the result there.
    """
    core, name = layout.core, layout.vision_method
    original: Any = getattr(core, name)

    @functools.wraps(original)  # generate() reads the method's parameter names
    def answer(*args: Any, **kwargs: Any) -> Any:
        if not outputs:
            outputs.append(original(*args, **kwargs))
        return outputs[0]

    setattr(core, name, answer)
    try:
        yield
    finally:
        delattr(core, name)
