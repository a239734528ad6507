"""Whether a device is there and has float64, which GPUs of Apple and some of Intel lack."""

from __future__ import annotations

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
