"""The catalogue of methods. A new one is a file here and a line in ``COMPRESSORS``."""

from gleanvid.compressors.base import Compressor, Setting, declared_settings, setting
from gleanvid.compressors.full_tokens import FullTokens
from gleanvid.compressors.gleanvid import GleanVID
from gleanvid.compressors.random import Random
from gleanvid.compressors.uniform import Uniform

COMPRESSORS: dict[str, type[Compressor]] = {
    method.name: method
    for method in (
        FullTokens,
        GleanVID,
        Uniform,
        Random,
    )
}

__all__ = ["COMPRESSORS", "Compressor", "Setting", "declared_settings", "setting"]
