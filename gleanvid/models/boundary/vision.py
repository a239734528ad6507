"""The vision side once per video: its output is handed back for every further question."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from torch import Tensor, nn

from gleanvid.models.boundary.layout import Layout
from gleanvid.models.boundary.sequence import find_videos
from gleanvid.models.boundary.signals import VisionSignals


class _ReachedError(Exception):
    """Ends a forward pass at the boundary."""


def capture_vision(
    layout: Layout, inputs: dict[str, Any], needs: frozenset[str] = frozenset()
) -> tuple[Tensor, Any, dict[str, Tensor]]:
    """Run everything ahead of the language model.

    Returns the rows [V, D] of the grid's tokens exactly as the language model would receive them,
    the output of the vision side for :func:`remembered_vision`, and the signals named in ``needs``.
    ``inputs`` hold one prompt with one video.
    """
    outputs: list[Any] = []
    reached: list[Tensor] = []
    signals = VisionSignals(layout, needs)

    def stop(module: nn.Module, args: tuple, kwargs: dict[str, Any]) -> None:
        reached.append(kwargs["inputs_embeds"])
        raise _ReachedError

    handle = layout.language_model.register_forward_pre_hook(stop, with_kwargs=True)
    try:
        with _answered(layout, outputs), signals.collecting():
            layout.core(**inputs, use_cache=False)
    except _ReachedError:
        pass
    finally:
        handle.remove()
    visual = layout.visual_columns(inputs["input_ids"], None).to(reached[0].device)
    grids = layout.grids(inputs)
    video = find_videos(visual, grids, layout.sides)[0][0]
    return reached[0][0, video.columns], outputs[0], signals.take(grids)


@contextmanager
def remembered_vision(layout: Layout, output: Any) -> Iterator[None]:
    """While open, the vision side answers with ``output`` and looks at no pixels."""
    with _answered(layout, [output]):
        yield


@contextmanager
def _answered(layout: Layout, outputs: list[Any]) -> Iterator[None]:
    """Answer the vision method from ``outputs``; compute and fill it where empty."""
    core, name = layout.core, layout.vision_method
    original: Any = getattr(core, name)

    @functools.wraps(original)  # generate() reads the signature
    def answer(*args: Any, **kwargs: Any) -> Any:
        if not outputs:
            outputs.append(original(*args, **kwargs))
        return outputs[0]

    setattr(core, name, answer)
    try:
        yield
    finally:
        delattr(core, name)
