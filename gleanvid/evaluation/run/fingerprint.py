"""A short fingerprint of a model's weights, from samples of every tensor."""

from __future__ import annotations

import hashlib
from typing import Any

import torch

_SAMPLES = 64  # values looked at in every tensor


def describe_model(model: Any) -> dict[str, Any]:
    """Name and fingerprint of a :class:`ModelAdapter`, and the bounds its processor puts on frames.

    "processor": class and "size" of what prepares videos, as its checkpoint says.
    """
    if known := getattr(model, "described", None):  # recorded clips stand for it
        return dict(known)
    processor = getattr(model, "processor", None)
    videos = getattr(processor, "video_processor", processor)
    size = getattr(videos, "size", None) or {}
    bounds = {name: value for name, value in dict(size).items() if value is not None}
    return {
        "model": model.name,
        "model_weights": fingerprint(model.hf_model),
        "processor": {"class": type(videos).__name__, "size": bounds},
    }


def fingerprint(hf_model: torch.nn.Module) -> str:
    """16 hexadecimal digits of names, shapes, types and evenly spaced values of all weights.

    The type counts: the same weights in another precision answer differently. The device does not.
    """
    digest = hashlib.sha256()
    tensors: dict[str, Any] = dict(hf_model.named_parameters()) | dict(hf_model.named_buffers())
    for name in sorted(tensors):
        values = tensors[name].detach().flatten()
        step = max(1, len(values) // _SAMPLES)
        some = values[::step][: _SAMPLES + 1].to("cpu", torch.float64)
        digest.update(f"{name} {tuple(tensors[name].shape)} {values.dtype}".encode())
        digest.update(some.numpy().tobytes())
    return digest.hexdigest()[:16]
