"""What cameras and codecs do to a clip: light, blur, JPEG blocks. For training only."""

from __future__ import annotations

import io

import numpy as np
from PIL import Image, ImageFilter

_CLEAN = 0.4  # share of clips that stay as they are


def augment(frames: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """A worse copy of ``frames`` uint8 [F, H, W, 3], or the same ones."""
    if rng.random() < _CLEAN:
        return frames
    light = rng.uniform(0.85, 1.12)
    blur = rng.uniform(0.4, 1.1) if rng.random() < 0.35 else 0.0
    quality = int(rng.integers(35, 95)) if rng.random() < 0.6 else 0
    table = np.clip(np.arange(256) * light, 0, 255).astype(np.uint8)
    return np.stack([_worse(table[frame], blur, quality) for frame in frames])


def _worse(frame: np.ndarray, blur: float, quality: int) -> np.ndarray:
    picture = Image.fromarray(frame)
    if blur:
        picture = picture.filter(ImageFilter.GaussianBlur(blur))
    if quality:
        file = io.BytesIO()
        picture.save(file, "JPEG", quality=quality)
        picture = Image.open(file)
    return np.asarray(picture)
