"""Launches of the kernels of :mod:`gleanvid.ops.fused_kernels`.

Each is an operator of torch, so that whoever counts operations counts a launch as one. To be
imported where a launch is due: it needs Triton.
"""

from __future__ import annotations

import torch
from torch import Tensor

from gleanvid.ops.fused_kernels import choose_kernel, left_norms_kernel, struck_factor_kernel

_PART = 32  # rows or tokens that a program looks at together


@torch.library.custom_op("gleanvid::choose", mutates_args=())
def choose(
    local: Tensor, complement: Tensor, count: int, saturated: float, constant: float, tied: float
) -> Tensor:
    """``scoring.chosen`` in one launch."""
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
    factor = torch.empty_like(gram)
    rejected = torch.empty(len(gram), dtype=torch.bool, device=gram.device)
    size = _power_of_two(len(gram))
    values = (gram.contiguous(), factor, rejected.view(torch.int8), relative, floor, len(gram))
    struck_factor_kernel[(1,)](*values, size, struck, num_warps=max(4, size // 8))
    return factor, rejected


@torch.library.custom_op("gleanvid::left_norms", mutates_args=())
def left_norms(energies: Tensor, along: Tensor) -> Tensor:
    """``evidence.left_norms`` in one launch."""
    out, (rows, tokens) = torch.empty_like(energies), along.shape
    grid = (-(-tokens // _PART),)
    left_norms_kernel[grid](energies, along, out, tokens, rows, along.stride(0), _PART, _PART)
    return out


def _power_of_two(count: int) -> int:
    return max(16, 1 << (count - 1).bit_length())
