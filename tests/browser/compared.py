from __future__ import annotations

import io
import json

import numpy as np
from PIL import Image

from tests.components.fake import COLUMNS, ROWS

METHODS = ["All tokens", "GleanVID 10 %", "VidCom2 10 %", "V-CAST 10 %", "VisionZip 10 %",
           "Uniform 10 %"]  # fmt: skip
FAILED = "VisionZip 10 %"  # VisionZip needs the signal saliency, which the fake backend lacks


def is_picture(content: bytes) -> bool:
    with Image.open(io.BytesIO(content)) as picture:
        picture.load()
        return picture.format == "PNG" and min(picture.size) > 50


def pixels(content: bytes):
    with Image.open(io.BytesIO(content)) as picture:
        return np.asarray(picture.convert("L")).astype(int)


def has_both_sides(content: bytes) -> bool:
    """Whether the image shows two frames side by side, with a gap of one colour between them."""
    grey = pixels(content)
    height, width = grey.shape
    gap = grey[32:, width // 2 - 3 : width // 2 + 3]
    left, right = grey[32:, : width // 2 - 8], grey[32:, width // 2 + 8 :]
    return width > 3 * (height - 30) and gap.std() < 3 and min(left.std(), right.std()) > 3


def has_masks(content: bytes) -> bool:
    arrays = np.load(io.BytesIO(content))
    masks = [name for name in arrays.files if name.endswith("/mask")]
    return len(masks) >= 5 and all(arrays[name].shape[1:] == (ROWS, COLUMNS) for name in masks)


def has_metrics(content: bytes) -> bool:
    told = json.loads(content)
    return {entry["label"] for entry in told} >= set(METHODS) - {FAILED}


FILES = {  # label of a save button -> name of the file, function that checks its content
    "Current frame of A and B (PNG)": ("frames.png", has_both_sides),
    "Contact sheet of run B (PNG)": ("contact-sheet.png", is_picture),
    "Runs A and B side by side (MP4)": ("overlay.mp4", lambda content: content[4:8] == b"ftyp"),
    "Figure of all runs in the viewer (PDF)": (
        "overlays.pdf",
        lambda content: content.startswith(b"%PDF-"),
    ),
    "Metrics (JSON)": ("metrics.json", has_metrics),
    "Masks (NPZ)": ("masks.npz", has_masks),
}
