"""Compute the token grid of a clip with a checkpoint's processor, without its weights."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch
from transformers import AutoConfig, AutoModelForImageTextToText, AutoProcessor

from gleanvid.models.base import ModelAdapter
from gleanvid.models.boundary.layout import Grid
from gleanvid.models.families import family_of
from gleanvid.models.generation.text import split_after
from gleanvid.models.loading.hub import is_reachable
from gleanvid.models.loading.load import PHOTOS, configured, from_pretrained, load_model, source_of
from gleanvid.models.token_model import TokenModel
from gleanvid.types import Video


def load_without_weights(
    name: str, max_pixels: int | None = None, settings: Mapping[str, Any] | None = None
) -> TokenModel:
    """Load configuration and processor of a checkpoint, but not its weights (device "meta").

    "mobilenet_v2" is small and loaded whole. Raises ``ModelError`` as ``load_model`` does.
    """
    if name == PHOTOS:
        return load_model(name, "cpu", max_pixels=max_pixels)
    source = source_of(name)
    cache = {"local_files_only": source != name or not is_reachable()}
    config = from_pretrained(AutoConfig, source, name, **cache)
    family = family_of(config, name)
    with torch.device("meta"):
        hf_model = AutoModelForImageTextToText.from_config(config)
    processor = from_pretrained(AutoProcessor, source, name, **cache)
    return configured(family(name, hf_model, processor, max_pixels), settings or {})


@torch.no_grad()
def grid_of(model: TokenModel, video: Video, max_pixels: int | None = None) -> Grid:
    """Return the token grid (temporal units, rows, columns) that ``model.encode`` would give.

    The vision tower of a Video LLM is not run. Raises ``ModelError`` if the frames do not fit into
    ``max_pixels``.
    """
    if not isinstance(model, ModelAdapter):  # an encoder, which is small enough to run
        return model.encode(video, max_pixels=max_pixels).tokens.grid
    limit = model.max_pixels if max_pixels is None else max_pixels
    prefix, _ = split_after(model.chat_text(video, "", ()), model.video_token)
    inputs = model.without_outro(model.build_inputs(video, prefix, limit))
    return model.place_tokens(video, inputs)[0]
