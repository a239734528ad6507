"""What cameras and codecs do to a clip: light, blur, noise, JPEG blocks. For training only."""

from __future__ import annotations

import numpy as np


def augment(frames: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """A worse copy of ``frames`` uint8 [F, H, W, 3]; about a third of the clips stay clean."""
    import cv2

    if rng.random() < 0.3:
        return frames
    light = rng.uniform(0.85, 1.12)
    sigma = rng.uniform(0, 7) * (rng.random() < 0.6)
    blur = rng.uniform(0.4, 1.1) if rng.random() < 0.35 else 0.0
    quality = int(rng.integers(35, 95)) if rng.random() < 0.5 else 0
    bank = rng.normal(0, sigma, (2, *frames.shape[1:])).astype(np.float32) if sigma else None
    worse = np.empty_like(frames)
    for f, frame in enumerate(frames):
        picture = frame.astype(np.float32) * light
        if bank is not None:
            picture += np.roll(bank[f % 2], rng.integers(97), axis=int(rng.integers(2)))
        if blur:
            picture = cv2.GaussianBlur(picture, (0, 0), blur)
        picture = np.clip(picture, 0, 255).astype(np.uint8)
        worse[f] = _jpeg(picture, quality) if quality else picture
    return worse


def _jpeg(picture: np.ndarray, quality: int) -> np.ndarray:
    import cv2

    _, data = cv2.imencode(".jpg", picture, [cv2.IMWRITE_JPEG_QUALITY, quality])
    return np.asarray(cv2.imdecode(data, cv2.IMREAD_COLOR))
