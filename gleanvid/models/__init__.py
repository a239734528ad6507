"""Video language models behind one interface, and compression for anybody's own."""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import Any

from gleanvid.compressors.base import Chain, Compressor
from gleanvid.models import boundary
from gleanvid.models.base import ModelAdapter
from gleanvid.models.encoded import Encoded
from gleanvid.models.families import MODELS, family_of
from gleanvid.models.generation.answering import Answer
from gleanvid.models.generation.conversation import Conversation
from gleanvid.models.loading.load import load_model

__all__ = [
    "MODELS",
    "Answer",
    "Conversation",
    "Encoded",
    "ModelAdapter",
    "compressing",
    "load_model",
]


def compressing(
    hf_model: Any, compressor: Compressor | Chain | None
) -> AbstractContextManager[boundary.Record]:
    """While open, every prompt with a video that your own ``hf_model`` reads is compressed.

    ``with compressing(hf_model, GleanVID()) as record: hf_model.generate(**inputs)``; then
    ``record.compression`` is the record of the latest prefill (a list per row for a batch). All
    hooks are gone afterwards. Raises ``ModelError`` for a family that is not in ``MODELS``.
    """
    if hasattr(hf_model, "get_base_model"):  # adapters of the peft package
        hf_model = hf_model.get_base_model()
    family = family_of(hf_model.config, type(hf_model).__name__)
    return boundary.compressing(hf_model, family.layout_of(hf_model), compressor)
