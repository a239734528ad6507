"""What a computation may count on: its device, float64, and no setting of the caller's torch."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

import torch

GPUS = ("cuda", "xpu", "mps")


def is_there(device: torch.device) -> bool:
    """Return whether this machine has a device of the same type as ``device``."""
    return device.type not in GPUS or bool(getattr(torch, device.type).is_available())


def has_float64(device: torch.device) -> bool:
    """Return whether a device computes in float64."""
    if device.type == "xpu":
        return bool(torch.xpu.get_device_properties(device).has_fp64)
    return device.type != "mps"


def moved(tensor: torch.Tensor, device: torch.device | str) -> torch.Tensor:
    """Move a tensor to ``device``; float64 becomes float32 if the device has no float64."""
    if tensor.dtype == torch.float64 and not has_float64(torch.device(device)):
        tensor = tensor.float()
    return tensor.to(device)


@contextmanager
def without_autocast() -> Iterator[None]:
    """Compute in the dtypes that the code names, also inside the caller's ``torch.autocast``."""
    with ExitStack() as stack:
        for kind in ("cpu", *GPUS):
            if torch.is_autocast_enabled(kind):
                stack.enter_context(torch.autocast(kind, enabled=False))
        yield


@contextmanager
def plain_torch() -> Iterator[None]:
    """Undo what a caller may have set: autocast, gradients, inference mode, default device, dtype.

    Results then depend on the arguments alone, and can be used anywhere afterwards: tensors made in
    inference mode cannot take part in a gradient.
    """
    with ExitStack() as stack:
        stack.enter_context(without_autocast())
        if torch.is_inference_mode_enabled():
            stack.enter_context(torch.inference_mode(False))
        stack.enter_context(torch.no_grad())
        if torch.get_default_device().type != "cpu":
            stack.enter_context(torch.device("cpu"))
        if (dtype := torch.get_default_dtype()) != torch.float32:
            torch.set_default_dtype(torch.float32)  # of the whole process, until the block ends
            stack.callback(torch.set_default_dtype, dtype)
        yield
