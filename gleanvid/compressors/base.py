"""Base class of all compressors: a frozen dataclass of settings and one method.

This module knows no method, no model and no user interface.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Sized
from dataclasses import dataclass, fields, replace
from typing import Any, ClassVar

from gleanvid.compressors.record_check import check_record
from gleanvid.compressors.settings import Setting
from gleanvid.compressors.settings import setting as setting
from gleanvid.compressors.shared.depth import scale_layer
from gleanvid.devices import has_float64, plain_torch
from gleanvid.plugins import naming_failures, origin
from gleanvid.types import Compression, VideoTokens


@dataclass(frozen=True)
class Compressor(ABC):
    """Base of all methods. Two with equal settings are equal and have the same hash.

    Args:
        retention_ratio: rho in (0, 1], the fraction of the visual tokens that is kept.

    Attributes:
        name: Key in files and on the command line.
        title: Name for people, as its paper writes it.
        paper: Authors, venue, link.
        licence: Licence of the original code.
        merges: Whether the method may merge tokens into others.
        needs: The optional signals of :class:`VideoTokens` that it reads, such as "saliency".
        keeps_whole: What the method keeps at every ratio, such as "one unit"; "" if nothing. A
            ratio too low for this is refused.
        reported: Results that the authors report, and where.
        not_ported: Parts of the authors' code that are not implemented here.
        queries: Prompt tokens whose attention an inner stage reads: "last", "text" or "" (none).
        over_heads: How the attention of all heads is combined for it: "mean" or "max".

    Raises:
        ValueError: A setting is out of its range; the message names setting, value and range.

    >>> sorted(GleanVID.needs), GleanVID(0.25) == GleanVID()
    ([], True)
    >>> GleanVID(retention_ratio=1.5)
    Traceback (most recent call last):
    ValueError: retention_ratio=1.5 must be in (0, 1]
    """

    name: ClassVar[str]
    title: ClassVar[str]  # compressors that are only a stage of a method have no title
    paper: ClassVar[str]
    licence: ClassVar[str] = "Apache-2.0 (this repository)"
    merges: ClassVar[bool] = False
    needs: ClassVar[frozenset[str]] = frozenset()
    keeps_whole: ClassVar[str] = ""
    reported: ClassVar[str] = ""
    not_ported: ClassVar[str] = ""
    queries: ClassVar[str] = ""
    over_heads: ClassVar[str] = "mean"

    retention_ratio: float = setting(
        0.25,
        "Fraction of the visual tokens to keep",
        low=0.0,
        high=1.0,
        step=0.01,
        above_low=True,
        label="Retention ratio (rho)",
    )

    def __post_init__(self) -> None:
        for item in fields(self):
            declared, kind = item.metadata["setting"], item.metadata["kind"]
            value = getattr(self, item.name)
            if not declared.accepts(value, kind):
                raise ValueError(f"{item.name}={value!r} must be {declared.describe_range(kind)}")
        for item in fields(self):  # after the type checks above: unlike types cannot be compared
            other, value = item.metadata["setting"].at_most, getattr(self, item.name)
            if other and value > (bound := getattr(self, other)):
                raise ValueError(f"{item.name}={value!r} must be at most {other}={bound!r}")

    def compress(self, tokens: VideoTokens) -> Compression:
        """Decide which visual tokens of one video are kept.

        Args:
            tokens: The visual tokens of one video. They are never changed.

        Returns:
            The compression record: which tokens are kept, and for methods that merge, into which
            kept token each other one is merged. It is on the device of the features. If that device
            has no float64, the method runs on the CPU. Settings of the caller's torch, such as
            autocast or inference mode, change nothing.

        Raises:
            TypeError: If ``tokens`` are no ``VideoTokens``, for example a bare tensor.
            ValueError: If the method cannot reach the ratio, or a signal in ``needs`` is missing.
                An exception in a plug-in, except for lack of memory, becomes a ``PluginError``,
                which is a ``ValueError``; its message names the file and the line.
        """
        if not isinstance(tokens, VideoTokens):
            shape = list(getattr(tokens, "shape", ()))
            raise TypeError(
                f"compress takes VideoTokens, not {type(tokens).__name__} {shape or ''}".rstrip()
                + ": VideoTokens(features, grid=(T, rows, columns)) of features [T*rows*columns, D]"
                ", or VideoTokens.from_grid(features) of [T, rows, columns, D]"
            )
        device = tokens.features.device
        is_here = has_float64(device)
        if not is_here:
            parts = {item.name: getattr(tokens, item.name) for item in fields(tokens)}
            at_host = {name: part.to("cpu") for name, part in parts.items() if hasattr(part, "to")}
            tokens = replace(tokens, **at_host)
        title = getattr(self, "title", type(self).__name__)
        with plain_torch(), naming_failures(type(self), title):
            record = self._compress(tokens)
            if not isinstance(record, Compression):
                raise TypeError(f"_compress returned {type(record).__name__}, not a Compression")
            if origin(type(self)):  # a plug-in; the tests check the records of our own methods
                check_record(record, tokens, self.merges)
        return record if is_here else record.to(device)

    @abstractmethod
    def _compress(self, tokens: VideoTokens) -> Compression:
        """Compress as :meth:`compress` documents; every method implements this."""

    @property
    def stages(self) -> tuple[tuple[int, Compressor], ...]:
        """Compression stages as (layer, compressor): each acts before that language-model layer.

        Layer 0 is the first, so a stage before it acts before the language model.
        """
        return ((0, self),)

    @property
    def is_random(self) -> bool:
        """Whether the selection depends on a setting ``seed``; tables then average over seeds."""
        return False

    def at_depth(self, num_layers: int) -> Compressor:
        """Return this compressor with its settings adapted to ``num_layers`` layers.

        By default only a method with a setting ``num_layers`` changes: to this number, with its
        setting ``layer``, if it has one, in proportion.
        """
        settings = {one.name: getattr(self, one.name) for one in fields(self)}
        if "num_layers" not in settings:
            return self
        changes = {"num_layers": num_layers}
        if "layer" in settings:
            changes["layer"] = scale_layer(settings["layer"], num_layers, settings["num_layers"])
        return replace(self, **changes)  # type: ignore[arg-type]

    def budget(self, tokens: Sized) -> int:
        """Return how many of the L tokens to keep: floor(retention_ratio * L), but at least 1."""
        return max(1, math.floor(self.retention_ratio * len(tokens) + 1e-9))

    def settings(self) -> dict[str, Any]:
        """The settings by name, ready for JSON, with the method's own ``name`` first."""
        return {"name": self.name} | {item.name: getattr(self, item.name) for item in fields(self)}


def declared_settings(compressor: type[Compressor]) -> dict[str, tuple[Any, type, Setting]]:
    """Return all settings of a method: name -> (default, kind, :class:`Setting`).

    The settings are in order of declaration.
    """
    return {
        item.name: (item.default, item.metadata["kind"], item.metadata["setting"])
        for item in fields(compressor)
    }
