"""The vision side once per video: its output is handed back for every further question."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from torch import Tensor, nn

from gleanvid.models.boundary.layout import Layout
from gleanvid.models.boundary.signals import VisionSignals


class _ReachedError(Exception):
    """Ends a forward pass at the boundary."""


def capture_vision(
    layout: Layout, inputs: dict[str, Any], needs: frozenset[str] = frozenset()
) -> tuple[Tensor, Any, dict[str, Tensor]]:
    """Run everything ahead of the language model.

    Returns the visual rows [V, D] exactly as the language model would receive them, and the output
    of the vision side for :func:`remembered_vision`, and the signals named in ``needs``.
    ``inputs`` hold one prompt.
    """
    outputs: list[Any] = []
    reached: list[Tensor] = []
    signals = VisionSignals(layout, needs)

    def stop(module: nn.Module, args: tuple, kwargs: dict[str, Any]) -> None:
        reached.append(kwargs["inputs_embeds"])
        raise _ReachedError

    handle = layout.language_model.register_forward_pre_hook(stop, with_kwargs=True)
    try:
        with _answered(layout.core, outputs), signals.collecting():
            layout.core(**inputs, use_cache=False)
    except _ReachedError:
        pass
    finally:
        handle.remove()
    visual = layout.visual_columns(inputs["input_ids"], None).to(reached[0].device)
    return reached[0][visual], outputs[0], signals.take(layout.grids(inputs))


@contextmanager
def remembered_vision(layout: Layout, output: Any) -> Iterator[None]:
    """While open, the vision side answers with ``output`` and looks at no pixels."""
    with _answered(layout.core, [output]):
        yield


@contextmanager
def _answered(core: nn.Module, outputs: list[Any]) -> Iterator[None]:
    """Answer ``core.get_video_features`` from ``outputs``; compute and fill it where empty."""
    original: Any = core.get_video_features

    @functools.wraps(original)  # generate() reads the signature
    def get_video_features(*args: Any, **kwargs: Any) -> Any:
        if not outputs:
            outputs.append(original(*args, **kwargs))
        return outputs[0]

    core.get_video_features = get_video_features  # type: ignore[assignment]
    try:
        yield
    finally:
        del core.get_video_features
