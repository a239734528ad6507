"""Video language models behind one interface, and compression for anybody's own.

Names are loaded on first use: the list of checkpoints needs no model.
"""

from __future__ import annotations

from contextlib import AbstractContextManager
from importlib import import_module
from typing import TYPE_CHECKING, Any

_HOME = {
    "MODELS": "families",
    "Answer": "encoded",
    "Conversation": "generation.conversation",
    "Encoded": "encoded",
    "ModelAdapter": "base",
    "load_model": "loading.load",
}

__all__ = [*_HOME, "compressing"]

if TYPE_CHECKING:
    from gleanvid.compressors.base import Chain, Compressor
    from gleanvid.models.base import ModelAdapter as ModelAdapter
    from gleanvid.models.boundary import Record
    from gleanvid.models.encoded import Answer as Answer
    from gleanvid.models.encoded import Encoded as Encoded
    from gleanvid.models.families import MODELS as MODELS
    from gleanvid.models.generation.conversation import Conversation as Conversation
    from gleanvid.models.loading.load import load_model as load_model


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'gleanvid.models' has no attribute {name!r}")
    return getattr(import_module(f"gleanvid.models.{_HOME[name]}"), name)


def compressing(
    hf_model: Any, compressor: Compressor | Chain | None
) -> AbstractContextManager[Record]:
    """While open, every prompt with a video that your own ``hf_model`` reads is compressed.

    All hooks are gone afterwards. ``record.compression`` is the record of the latest prefill (a
    list, one a row, for a batch).

    Args:
        hf_model: a model of transformers, of a family in ``MODELS``.
        compressor: what compresses; None only records how many tokens there are.

    Raises:
        ModelError: a family that is not in ``MODELS``.

    >>> model, video = load_model(), read_video("assets/clips/glimpse_1.mp4", num_frames=4)
    >>> asked = [{"type": "video"}, {"type": "text", "text": "What moves?"}]
    >>> text = model.processor.apply_chat_template([{"role": "user", "content": asked}])
    >>> inputs = model.processor(text=[text], videos=[video.frames], return_tensors="pt")
    >>> with compressing(model.hf_model, GleanVID(0.1)) as record:
    ...     output = model.hf_model.generate(**inputs, max_new_tokens=4)
    >>> record.compression.num_kept
    20
    """
    from gleanvid.models import boundary
    from gleanvid.models.families import family_of

    if hasattr(hf_model, "get_base_model"):  # adapters of the peft package
        hf_model = hf_model.get_base_model()
    family = family_of(hf_model.config, type(hf_model).__name__)
    return boundary.compressing(hf_model, family.layout_of(hf_model), compressor)
