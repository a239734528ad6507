"""Base class of all compressors: a frozen dataclass of settings and one method.

This module knows no method, no model and no user interface. A setting is declared once with
:func:`setting`; sliders, command-line options, API schemas and error messages are read from it.
"""

from __future__ import annotations

import math
import re
from abc import ABC, abstractmethod
from collections.abc import Sized
from dataclasses import dataclass, field, fields, replace
from typing import Any, ClassVar

from gleanvid.devices import has_float64
from gleanvid.errors import printable
from gleanvid.plugins import is_plugin, naming_failures
from gleanvid.types import Compression, VideoTokens

_PLAIN = {bool: "true or false", str: "text"}  # values of settings without a range


@dataclass(frozen=True)
class Setting:
    """One setting of a method: its range, step and help text.

    Validation, sliders and command-line options all use this description.
    """

    help: str
    low: float | None = None
    high: float | None = None
    step: float | None = None
    above_low: bool = False  # the range excludes ``low`` itself
    choices: tuple[Any, ...] | None = None
    optional: str | None = None  # what None means, e.g. "all preceding frames"
    start: float | None = None  # where the slider starts when an optional setting changes from None
    label: str | None = None  # label on the page; default: derived from the setting's name
    open: bool = False  # shown at once on the page, not under "More settings"
    at_most: str | None = None  # another setting that this one must not exceed
    # names of numbers in ``Compression.trace`` that the page shows with the method's settings
    readout: tuple[str, ...] = ()

    def describe_range(self, kind: type) -> str:
        """Return the allowed values of a setting of type ``kind`` as text, such as "(0, 1]"."""
        if self.choices is not None:
            return "one of " + ", ".join(map(repr, self.choices))
        if kind in _PLAIN:
            return _PLAIN[kind]
        left = "(" if self.above_low or self.low is None else "["
        right = ")" if self.high is None else "]"
        low = "-inf" if self.low is None else f"{self.low:g}"
        high = "inf" if self.high is None else f"{self.high:g}"
        text = f"in {left}{low}, {high}{right}"
        return text + (f" or None ({self.optional})" if self.optional else "")

    def accepts(self, value: Any, kind: type) -> bool:
        """Return whether this setting, whose annotation is ``kind``, accepts ``value``."""
        if value is None:
            return self.optional is not None
        if self.choices is not None:
            return value in self.choices
        if kind in (bool, str):
            return isinstance(value, kind)
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            return False
        if not abs(value) < math.inf or (kind is int and value != int(value)):
            return False
        if self.low is not None and (value < self.low or (self.above_low and value == self.low)):
            return False
        return self.high is None or value <= self.high


def setting(default: Any, help: str, *, kind: type | None = None, **limits: Any) -> Any:
    """Declare a compressor setting: default, help and the limits of :class:`Setting`."""
    kind = kind or type(default)
    return field(default=default, metadata={"setting": Setting(help, **limits), "kind": kind})


def exact_setting() -> Any:
    """Declare the setting ``exact`` of methods whose authors' code does not meet a budget."""
    return setting(
        True, "Keep exactly the token budget (off: as many tokens as the authors' code keeps)"
    )


def exact_on_average_setting() -> Any:
    """Declare the setting ``exact`` of methods that act inside the language model."""
    return setting(True, "Meet the retention ratio exactly, on average over the layers")


def num_layers_setting() -> Any:
    """Declare ``num_layers``, the layer count of the model for which layer numbers are given."""
    return setting(28, "Number of layers that the language model has", low=2, high=128, step=1)


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
            has no float64, the method runs on the CPU.

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
        with naming_failures(type(self), getattr(self, "title", type(self).__name__)):
            record = self._compress(tokens)
            if not isinstance(record, Compression):
                raise TypeError(f"_compress returned {type(record).__name__}, not a Compression")
            if is_plugin(type(self)):  # this package's tests check the records of its own methods
                from gleanvid.compressors.contract import check_record

                check_record(self, record, tokens)
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

        By default the compressor is returned unchanged.
        """
        return self

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


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and -1e300 < value < 1e300


def _is_text(value: Any) -> bool:
    return isinstance(value, str) and printable(value, "\n") == value


def _are_plain(values: Any) -> bool:
    return isinstance(values, tuple | list) and all(_is_text(v) or _is_number(v) for v in values)


# field of a Setting -> function that checks its value; all fields but "help" may be None
_DECLARED = {
    **dict.fromkeys(("help", "optional", "label", "at_most"), _is_text),
    **dict.fromkeys(("low", "high", "step", "start"), _is_number),
    **dict.fromkeys(("choices", "readout"), _are_plain),
}


def check_declaration(compressor: type[Compressor]) -> None:
    """Raise ``ValueError`` unless name, title, paper and all settings of a method are valid."""
    kind = compressor.__name__
    if "__dataclass_params__" not in vars(compressor):
        raise ValueError(f"{kind} must be decorated with @dataclass(frozen=True)")
    for name in ("name", "title", "paper"):
        text: Any = getattr(compressor, name, None)
        if not _is_text(text) or not text.strip():
            raise ValueError(f"{kind}.{name}={text!r} must be text")
    if not re.fullmatch(r"[a-z][a-z0-9_]*", compressor.name):
        raise ValueError(
            f"{kind}.name={compressor.name!r} must be a lower-case name such as my_method"
        )
    for item in fields(compressor):
        if "setting" not in item.metadata:
            raise ValueError(
                f"{kind}.{item.name} must be declared with setting(default, help, ...)"
            )
        if item.metadata["kind"] not in (bool, int, float, str):
            raise ValueError(
                f"{kind}.{item.name} must be declared with kind=int, float, str or bool"
            )
        for name, expected in _DECLARED.items():
            given = getattr(item.metadata["setting"], name)
            if not (given is None and name != "help") and not expected(given):
                raise ValueError(
                    f"{kind}.{item.name}: setting({name}={given!r}) has the wrong type"
                )
        others = item.metadata["setting"].at_most
        if others is not None and others not in {other.name for other in fields(compressor)}:
            raise ValueError(f"{kind}.{item.name}: at_most={others!r} is no setting of {kind}")
    try:
        compressor()
    except Exception as error:
        raise ValueError(f"{kind} refuses its own defaults: {error}") from error
