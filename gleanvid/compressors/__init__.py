"""The catalogue of methods. A new one is a file here and a line in ``COMPRESSORS``."""

from gleanvid.compressors.ablation import Ablation
from gleanvid.compressors.base import Compressor, Setting, declared_settings, setting
from gleanvid.compressors.dycoke import DyCoke
from gleanvid.compressors.full_tokens import FullTokens
from gleanvid.compressors.gleanvid import GleanVID
from gleanvid.compressors.pairwise_gain import PairwiseGain
from gleanvid.compressors.prunevid import PruneVid
from gleanvid.compressors.random import Random
from gleanvid.compressors.uniform import Uniform
from gleanvid.compressors.vcast import VCast
from gleanvid.compressors.vidcom2 import VidCom2

COMPRESSORS: dict[str, type[Compressor]] = {
    method.name: method
    for method in (
        FullTokens,
        GleanVID,
        VidCom2,
        VCast,
        PruneVid,
        DyCoke,
        PairwiseGain,
        Ablation,
        Uniform,
        Random,
    )
}

__all__ = ["COMPRESSORS", "Compressor", "Setting", "declared_settings", "setting"]
