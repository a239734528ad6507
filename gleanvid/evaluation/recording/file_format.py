"""The file format of recordings: one clip as one model sees it, in one safetensors file.

Version 1. T frames, U temporal units, N tokens per unit, L = U*N, D features; all tensors:

- ``features`` [L, D], float32, float16 or bfloat16; or int8, with ``features_scale``
  and ``features_mean`` float32 [D]: a channel is its numbers times its scale plus its mean;
- ``saliency`` [L] and ``keys`` [L, Dk] of the vision tower, if they were requested;
- ``seconds`` [U, 2] and ``rectangles`` [N, 4]: see :class:`gleanvid.types.VideoTokens`;
- ``frames`` uint8: the bytes of T JPEG files in a row, ``frame_ends`` int64 [T] where each ends;
  ``timestamps`` float64 [T], ``indices`` int64 [T];
- ``run/I/LAYER/NAME``: the records of run I, as ``Run.save`` names them;
- ``relevance/I`` float32 [L] of question I, if it was requested: see
  :class:`gleanvid.Relevance`.

The metadata of the file has one entry, :data:`KEY`, with JSON: ``version``, ``grid`` [U, rows,
columns], ``model`` (name, family, class, precision, fingerprint of the weights, layers, versions),
``machine``, ``video`` (as in ``Run.summary``), ``encode_s``, ``features`` (stored precision, and
the fraction of kept tokens that it changes), ``licence`` (of clip and weights), ``runs``:
``Run.summary`` of each with its ``log_probability``, ``refused``: the compressors that could not
reach their ratio, and ``relevance``: ``Relevance.summary`` of each.
"""

from __future__ import annotations

from pathlib import Path

import torch
from torch import Tensor

SUFFIX = ".recording.safetensors"
KEY = "gleanvid_recording"
VERSION = 1
ROWS = 1024  # number of tokens converted to another dtype at a time
STORED = ("exact", "bfloat16", "int8")  # precisions of stored features; exact: the model's own


def is_recording(path: str | Path) -> bool:
    """Return whether a file has the name of a recording; its contents are not read."""
    return str(path).endswith(SUFFIX)


def stored_features(features: Tensor, how: str) -> dict[str, Tensor]:
    """Return the tensors to store for ``features`` [L, D]; ``how``: one of :data:`STORED`."""
    if how == "int8":
        mean = features.float().mean(0)
        centred = features.float() - mean
        scale = centred.abs().amax(0).clamp_min(torch.finfo(torch.float32).tiny) / 127
        numbers = (centred / scale).round().to(torch.int8)
        return {"features": numbers, "features_scale": scale, "features_mean": mean}
    return {"features": features.to(torch.bfloat16) if how == "bfloat16" else features}


def read_features(tensors: dict[str, Tensor], dtype: torch.dtype) -> Tensor:
    """Return the stored features [L, D] as ``dtype``, without a copy if they are stored in it."""
    features, scale = tensors["features"], tensors.get("features_scale")
    if scale is None:
        return features.to(dtype)
    made = torch.empty(features.shape, dtype=dtype)
    for start in range(0, len(features), ROWS):  # in parts, to avoid a float32 copy of all features
        rows = slice(start, start + ROWS)
        made[rows] = features[rows].float() * scale + tensors["features_mean"]
    return made
