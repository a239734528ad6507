"""The registry of all compressors.

To add a method to this package, write a module here and add its class to ``_OWN``.
Plug-ins register compressors of their own; see :mod:`gleanvid.plugins`.
"""

from collections import ChainMap
from collections.abc import Iterator, Mapping
from typing import Any

from gleanvid.compressors.aot import AOT
from gleanvid.compressors.base import Compressor as Compressor
from gleanvid.compressors.base import declared_settings as declared_settings
from gleanvid.compressors.by_hand import ByHand
from gleanvid.compressors.cdpruner import CDPruner
from gleanvid.compressors.declaration import check_declaration
from gleanvid.compressors.divprune import DivPrune
from gleanvid.compressors.dycoke import DyCoke
from gleanvid.compressors.evs import EVS
from gleanvid.compressors.fastv import FastV
from gleanvid.compressors.fastvid import FastVID
from gleanvid.compressors.flashvid import FlashVID
from gleanvid.compressors.floc import FLoC
from gleanvid.compressors.framefusion import FrameFusion
from gleanvid.compressors.frames import FewerFrames
from gleanvid.compressors.full_tokens import FullTokens
from gleanvid.compressors.gleanvid import GleanVID
from gleanvid.compressors.gleanvid.ablation import Ablation
from gleanvid.compressors.gleanvid.soft import SoftGleanVID
from gleanvid.compressors.holitom import HoliTom
from gleanvid.compressors.pairwise_gain import PairwiseGain
from gleanvid.compressors.pool import Pool
from gleanvid.compressors.prunevid import PruneVid
from gleanvid.compressors.random import Random
from gleanvid.compressors.resize import Resize
from gleanvid.compressors.settings import setting as setting
from gleanvid.compressors.sparsevlm import SparseVLM
from gleanvid.compressors.specs import key_in, merged, plain
from gleanvid.compressors.specs import names_in as names_in
from gleanvid.compressors.specs import settings_in as settings_in
from gleanvid.compressors.sttm import STTM
from gleanvid.compressors.uniform import Uniform
from gleanvid.compressors.vcast import VCast
from gleanvid.compressors.vidcom2 import VidCom2
from gleanvid.compressors.visionzip import VisionZip
from gleanvid.plugins import Registry

_OWN: tuple[type[Compressor], ...] = (
    FullTokens,
    GleanVID,
    VidCom2,
    VCast,
    VisionZip,
    FastVID,
    HoliTom,
    FlashVID,
    PruneVid,
    DyCoke,
    EVS,
    DivPrune,
    STTM,
    FLoC,
    AOT,
    CDPruner,
    FastV,
    SparseVLM,
    FrameFusion,
    PairwiseGain,
    SoftGleanVID,
    Ablation,
    FewerFrames,
    Resize,
    Pool,
    Uniform,
    Random,
)


def _names(method: type[Compressor], known: Mapping[str, type[Compressor]]) -> Iterator[str]:
    """Check a method's class attributes and settings, and yield its name.

    Raises ``ValueError`` if another method has this name or title.
    """
    check_declaration(method)
    others = {key: other.title for key, other in known.items() if key != method.name}
    taken = set(map(plain, [*others, *others.values(), ByHand.name, ByHand.title]))
    for word in (method.name, method.title):
        if plain(word) in taken:
            raise ValueError(f"{method.__name__}: {word!r} is another method's name or title")
    yield method.name


COMPRESSORS = Registry({each.name: each for each in _OWN}, _names)
# All methods, by name. Menus and tables list ``COMPRESSORS``, which lacks ByHand: tokens that were
# chosen by hand fit only clips with the same token grid.
METHODS: ChainMap[str, type[Compressor]] = ChainMap({ByHand.name: ByHand}, COMPRESSORS)


def from_settings(settings: Mapping[str, Any]) -> Compressor:
    """Return the compressor described by the result of ``Compressor.settings``.

    Raises ``ValueError`` for an unknown method or setting, and for a value out of its range.
    """
    given = dict(settings)
    name = key_of(given.pop("name", None))
    method, declared = METHODS[name], declared_settings(METHODS[name])
    if unknown := given.keys() - declared:
        raise ValueError(f"{name} has no setting {min(unknown)}; it has {', '.join(declared)}")
    return method(**given)


def key_of(name: Any) -> str:
    """Return the key in ``METHODS`` for a method's name or title, in upper or lower case.

    Raises ``ValueError`` for an unknown name.
    """
    return key_in({key: method.title for key, method in METHODS.items()}, name)


def method_from(text: str, retention_ratio: float | None = None) -> Compressor:
    """Make a compressor from its name and settings, such as ``holitom(0.1, tau=0.65)``.

    ``retention_ratio`` counts if the text has none; the baseline with all tokens ignores it.
    Raises ``ValueError`` for an unknown method or setting, for a value out of its range, and for a
    setting with two values.
    """
    settings = settings_in(text)
    if retention_ratio is not None and key_of(settings["name"]) != FullTokens.name:
        settings = merged(text, {"retention_ratio": retention_ratio})
    return from_settings(settings)


def as_compressor(given: Compressor | str | None) -> Compressor | None:
    """Return a compressor unchanged, or make one from a text as :func:`method_from` does.

    Raises ``ValueError`` for an unknown name and ``TypeError`` for anything else.
    """
    if isinstance(given, str):
        return method_from(given)
    if given is None or isinstance(given, Compressor):
        return given
    raise TypeError(
        f"compressor={given!r} must be a compressor such as GleanVID(0.25), or one of the names "
        f"{', '.join(COMPRESSORS)}"
    )


def title_of(name: str) -> str:
    """Return the title of the named method; the name itself if the method is unknown."""
    return METHODS[name].title if name in METHODS else name
