"""One launch in place of several, for steps on little data: an explicit switch, off by default.

Inside :func:`fused_steps` the functions that have a Triton kernel use it for tensors on a CUDA
device, or on the CPU where Triton's interpreter is on (``TRITON_INTERPRET=1``, before Triton is
imported). Sizes and types that a kernel does not take go the usual way. The kernels are held to
the usual way in the interpreter alone: they have not been run on a GPU, hence the switch.

Each is an operator of torch, so that whoever counts operations counts a launch as one.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from importlib.util import find_spec

import torch
from torch import Tensor

_ON: ContextVar[bool] = ContextVar("fused_steps", default=False)
_MOST_TOKENS, _MOST_ROWS = 1024, 128  # what one program can hold
_PART = 32  # rows or tokens that a program looks at together


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
    """Whether :func:`choose` takes the scores [N] of a unit."""
    types = (local.dtype, complement.dtype) == (torch.float64, torch.float32)
    return types and len(local) <= _MOST_TOKENS and _is_on(local)


def can_factor(gram: Tensor) -> bool:
    """Whether :func:`struck_factor` takes a Gram matrix."""
    return len(gram) <= _MOST_ROWS and _is_on(gram)


def can_take_norms(along: Tensor) -> bool:
    """Whether :func:`left_norms` takes coordinates."""
    return along.dtype == torch.float32 and _is_on(along)


@torch.library.custom_op("gleanvid::choose", mutates_args=())
def choose(
    local: Tensor, complement: Tensor, count: int, saturated: float, constant: float, tied: float
) -> Tensor:
    """``scoring.chosen`` in one launch."""
    from gleanvid.ops.fused_kernels import choose_kernel

    chosen = torch.empty(count, dtype=torch.int64, device=local.device)
    size = _power_of_two(len(local))
    values = (local.contiguous(), complement.contiguous(), chosen, saturated, constant, tied)
    choose_kernel[(1,)](*values, len(local), count, size, _PART, num_warps=8)
    return chosen


@torch.library.custom_op("gleanvid::struck_factor", mutates_args=())
def struck_factor(
    gram: Tensor, relative: float, floor: float, struck: float
) -> tuple[Tensor, Tensor]:
    """``orthogonal.struck_factor`` in one launch."""
    from gleanvid.ops.fused_kernels import struck_factor_kernel

    factor = torch.empty_like(gram)
    rejected = torch.empty(len(gram), dtype=torch.bool, device=gram.device)
    size = _power_of_two(len(gram))
    values = (gram.contiguous(), factor, rejected.view(torch.int8), relative, floor, len(gram))
    struck_factor_kernel[(1,)](*values, size, struck, num_warps=max(4, size // 8))
    return factor, rejected


@torch.library.custom_op("gleanvid::left_norms", mutates_args=())
def left_norms(energies: Tensor, along: Tensor) -> Tensor:
    """``evidence.left_norms`` in one launch."""
    from gleanvid.ops.fused_kernels import left_norms_kernel

    out, (rows, tokens) = torch.empty_like(energies), along.shape
    grid = (-(-tokens // _PART),)
    left_norms_kernel[grid](energies, along, out, tokens, rows, along.stride(0), _PART, _PART)
    return out


def _power_of_two(count: int) -> int:
    return max(16, 1 << (count - 1).bit_length())
