"""The file format of recordings: one clip as one model sees it, in one safetensors file.

Version 1. A clip has T frames, U temporal units of N tokens, and L = U * N tokens of D features. A
run is one answered question under one compressor. The tensors:

- ``features`` [L, D], float32, float16, bfloat16 or int8: int8 times ``features_scale`` plus
  ``features_mean``, both float32 [D];
- ``saliency`` [L] and ``keys`` [L, width of a key] of the vision tower, if requested;
- ``seconds`` [U, 2] and ``rectangles`` [N, 4]: see :class:`gleanvid.VideoTokens`;
- ``frames`` uint8: T JPEG files; ``frame_ends`` int64 [T]: byte offset at which each ends;
- ``timestamps`` float64 [T] and ``indices`` int64 [T] of the frames, as in ``Video``;
- ``run/I/LAYER/NAME``: the compression records of run I, see :meth:`gleanvid.Run.save`;
- ``relevance/I`` float32 [L]: :class:`gleanvid.Relevance` for question I, if requested.

The metadata has one entry, ``gleanvid_recording``, JSON with these keys:

- ``version``; ``grid``: [U, rows, columns] of tokens; ``machine``; ``encode_s``;
- ``model``: name, family, class, precision, layers, processor and fingerprint of the weights;
- ``video``: as in ``Run.summary``, and the size of the frames;
- ``features``: the stored precision, and the fraction of kept tokens that it changes;
- ``licence``: of clip and weights;
- ``runs``: ``Run.summary`` of each run, and the ``log_probability`` of its answer;
- ``refused``: the compressors that could not reach their ratio;
- ``relevance``: ``Relevance.summary`` of each map, if there are any.
"""

from __future__ import annotations

from pathlib import Path

import torch
from torch import Tensor

SUFFIX = ".recording.safetensors"
KEY = "gleanvid_recording"
VERSION = 1
ROWS = 1024  # int8 features are converted to floats for this many tokens at a time
STORED = ("exact", "bfloat16", "int8")  # how to store features; "exact" is the model's precision


def is_recording(path: str | Path) -> bool:
    """Return whether a file has the name of a recording; its contents are not read."""
    return str(path).endswith(SUFFIX)


def stored_features(features: Tensor, how: str) -> dict[str, Tensor]:
    """Return by name the tensors to store for ``features`` [L, D].

    ``how``: the precision, one of :data:`STORED`.
    """
    if how == "int8":
        mean = features.float().mean(0)
        centred = features.float() - mean
        scale = centred.abs().amax(0).clamp_min(torch.finfo(torch.float32).tiny) / 127
        numbers = (centred / scale).round().to(torch.int8)
        return {"features": numbers, "features_scale": scale, "features_mean": mean}
    return {"features": features.to(torch.bfloat16) if how == "bfloat16" else features}


def read_features(tensors: dict[str, Tensor], dtype: torch.dtype) -> Tensor:
    """Return the stored features [L, D] as ``dtype``; they are not copied if stored as such."""
    features, scale = tensors["features"], tensors.get("features_scale")
    if scale is None:
        return features.to(dtype)
    made = torch.empty(features.shape, dtype=dtype)
    for start in range(0, len(features), ROWS):  # in parts, to avoid a float32 copy of all features
        rows = slice(start, start + ROWS)
        made[rows] = features[rows].float() * scale + tensors["features_mean"]
    return made
