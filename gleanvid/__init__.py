"""GleanVID: training-free visual-token compression for Video LLMs, with an app that shows it.

Two ways in: :func:`ask` a video with a model and a compressor, or wrap your own ``generate`` call
in ``with compressing(hf_model, compressor) as record:``. Names are loaded on first use, so that
importing the package costs nothing and needs only what is used.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

_HOME = {
    "COMPRESSORS": "compressors",
    "Compression": "types",
    "Compressor": "compressors.base",
    "Cost": "cost",
    "Frames": "api.arguments",
    "FullTokens": "compressors.full_tokens",
    "GleanVID": "compressors.gleanvid",
    "Least": "metrics.least",
    "MODELS": "models",
    "ModelError": "types",
    "Random": "compressors.random",
    "Relevance": "attribution.relevance",
    "Run": "run",
    "Sampling": "models.generation.sampling",
    "Uniform": "compressors.uniform",
    "Video": "types",
    "VideoError": "types",
    "VideoTokens": "types",
    "ask": "api",
    "ask_many": "api",
    "by_hand": "compressors.by_hand",
    "compare": "api",
    "compressing": "api",
    "least": "api",
    "load_model": "models",
    "processor_kwargs": "api",
    "read_video": "video",
    "register": "plugins",
    "relevance": "api",
    "relevance_of": "api",
    "stream": "api",
}

__all__ = sorted(_HOME)

if TYPE_CHECKING:
    from gleanvid.api import ask as ask
    from gleanvid.api import ask_many as ask_many
    from gleanvid.api import compare as compare
    from gleanvid.api import compressing as compressing
    from gleanvid.api import least as least
    from gleanvid.api import processor_kwargs as processor_kwargs
    from gleanvid.api import relevance as relevance
    from gleanvid.api import relevance_of as relevance_of
    from gleanvid.api import stream as stream
    from gleanvid.api.arguments import Frames as Frames
    from gleanvid.attribution.relevance import Relevance as Relevance
    from gleanvid.compressors import COMPRESSORS as COMPRESSORS
    from gleanvid.compressors.base import Compressor as Compressor
    from gleanvid.compressors.by_hand import by_hand as by_hand
    from gleanvid.compressors.full_tokens import FullTokens as FullTokens
    from gleanvid.compressors.gleanvid import GleanVID as GleanVID
    from gleanvid.compressors.random import Random as Random
    from gleanvid.compressors.uniform import Uniform as Uniform
    from gleanvid.cost import Cost as Cost
    from gleanvid.metrics.least import Least as Least
    from gleanvid.models import MODELS as MODELS
    from gleanvid.models import load_model as load_model
    from gleanvid.models.generation.sampling import Sampling as Sampling
    from gleanvid.plugins import register as register
    from gleanvid.run import Run as Run
    from gleanvid.types import Compression as Compression
    from gleanvid.types import ModelError as ModelError
    from gleanvid.types import Video as Video
    from gleanvid.types import VideoError as VideoError
    from gleanvid.types import VideoTokens as VideoTokens
    from gleanvid.video import read_video as read_video

    __version__: str
else:  # type checkers would take any name for one of the package

    def __getattr__(name: str) -> object:
        if name == "__version__":  # defined only in pyproject.toml
            return import_module("importlib.metadata").version("gleanvid")
        if name not in _HOME:
            raise AttributeError(f"module 'gleanvid' has no attribute {name!r}")
        return getattr(import_module(f"gleanvid.{_HOME[name]}"), name)


def __dir__() -> list[str]:
    return __all__
