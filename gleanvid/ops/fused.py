"""One launch in place of several, for steps on little data: an explicit switch, off by default.

Inside :func:`fused_steps` the functions that have a Triton kernel use it for tensors on a CUDA
device, or on the CPU where Triton's interpreter is on (``TRITON_INTERPRET=1``, before Triton is
imported). Sizes and types that a kernel does not take go the usual way. The kernels are held to
the usual way in the interpreter alone: they have not been run on a GPU, hence the switch.

This module only says where: the launches are in :mod:`gleanvid.ops.fused_launches`.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from importlib.util import find_spec
from typing import TYPE_CHECKING

import torch

if TYPE_CHECKING:
    from torch import Tensor

_ON: ContextVar[bool] = ContextVar("fused_steps", default=False)
_MOST_TOKENS, _MOST_ROWS = 1024, 128  # what one program can hold


@contextmanager
def fused_steps() -> Iterator[None]:
    """Steps of this thread that have a kernel use it. Raises ``ValueError`` without Triton."""
    if find_spec("triton") is None:
        raise ValueError("fused steps need Triton, which is not installed")
    token = _ON.set(True)
    try:
        yield
    finally:
        _ON.reset(token)


def interpreted() -> bool:
    """Whether Triton's interpreter is on, which runs kernels on the CPU."""
    if find_spec("triton") is None:
        return False
    import triton

    return bool(triton.knobs.runtime.interpret)


def _is_on(tensor: Tensor) -> bool:
    return _ON.get() and (tensor.is_cuda or interpreted())


def can_choose(local: Tensor, complement: Tensor) -> bool:
    """Whether ``fused_launches.choose`` takes the scores [N] of a unit."""
    types = (local.dtype, complement.dtype) == (torch.float64, torch.float32)
    return types and len(local) <= _MOST_TOKENS and _is_on(local)


def can_factor(gram: Tensor) -> bool:
    """Whether ``fused_launches.struck_factor`` takes a Gram matrix."""
    return len(gram) <= _MOST_ROWS and _is_on(gram)


def can_take_norms(along: Tensor) -> bool:
    """Whether ``fused_launches.left_norms`` takes coordinates."""
    return along.dtype == torch.float32 and _is_on(along)
