"""What a page asks for, and what stands on it: clip, model, compressor, the two sides."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from gleanvid.compressors import from_settings
from gleanvid.compressors.base import Compressor, declared_settings
from gleanvid.models.encoded import ClipKey
from gleanvid.models.generation.sampling import Sampling
from gleanvid.run import Run
from gleanvid.types import Video

from .examples import Example

LONGEST = 10_000  # characters of a question
PINNED_CHARS = 10_000  # of JSON with settings
SEEDS = 2**31 - 1
NEW_TOKENS = (1, 64, 256)  # least, default and greatest length of an answer
NONE = "none"  # what a link says for None
ALL_TOKENS: Mapping[str, Any] = {"name": "full"}
RATIO = "retention_ratio"  # the setting that all compressors share
NO_CLIP = "Choose a clip first: upload one, or take an example."
NO_QUESTION = "Type a question first."
TOO_LONG = f"A question may have {LONGEST:,} characters; this one has {{count:,}}."
SAMPLING = {  # least and greatest value
    "seed": (0, SEEDS),
    "temperature": (0, 2),
    "top_p": (0.01, 1),
    "max_new_tokens": NEW_TOKENS[::2],
}


@dataclass(frozen=True)
class Request:
    """What a page asks for. ``compressor`` is made when used, so a bad setting is reported here.

    ``pixels``: most pixels of a frame as the model sees it, 0 for the model's own limit.
    """

    path: str | None
    frames: int
    model: str
    compressor: Callable[[], Compressor]
    pixels: int = 0
    sampling: Mapping[str, Any] = field(default_factory=dict)
    example: Example | None = None  # the clip, where it is one of ours

    def check(self) -> None:
        """Raises ``ValueError`` for what no widget of the page can send."""
        clamped("frames", self.frames, 1, 1024)
        clamped("pixels", self.pixels, 0, 2**24)
        self.checked_sampling()

    def checked_sampling(self) -> Sampling:
        """How the answer is sampled. Raises ``ValueError`` outside the limits of the page."""
        for name, (low, high) in SAMPLING.items():
            if name in self.sampling:
                clamped(name, self.sampling[name], low, high)
        return Sampling(**self.sampling)

    def missing(self, question: str) -> str:
        """What stands in the way of asking, as a sentence; empty where nothing does."""
        if not self.path or not isinstance(question, str) or not question.strip():
            return NO_QUESTION if self.path else NO_CLIP
        return TOO_LONG.format(count=len(question)) if len(question) > LONGEST else ""

    def clip(self, video: Video, signals: frozenset[str] = frozenset()) -> ClipKey:
        """Which encoded clip is meant; the bound of a frame times its frames."""
        return ClipKey(video, self.model, self.pixels * len(video) or None, signals)


@dataclass(frozen=True)
class Sides:
    """What stands on a page.

    Attributes:
        runs: ids of the runs in the viewer: B first, A second, then what was asked before.
        pinned: settings of A's compressor; empty for all tokens.
        question: as it stands in the box. Answers to another one are out of date.
        sampling: as it is set. Answers sampled otherwise are out of date, too.
        version: grows with every change of the page. What comes of an earlier one is not shown.
        model: the page's, by name; an answer of another is marked with its name. Empty: not known.
    """

    runs: Sequence[str] = ()
    pinned: Mapping[str, Any] | None = None
    question: str = ""
    sampling: Mapping[str, Any] = field(default_factory=dict)
    version: int = 0
    model: str = ""

    @property
    def reference(self) -> Compressor:
        """The compressor of A."""
        return from_settings(self.pinned or ALL_TOKENS)

    def are_answered_by(self, run: Run) -> bool:
        """Whether the run answered this question, sampled as it would be now."""
        words = self.question.strip()
        drawn = () if not self.sampling.get("temperature") else ("top_p", "seed")
        counts = [
            name for name in ("max_new_tokens", "temperature", *drawn) if name in self.sampling
        ]
        same = (run.made_with.get(name) in (None, self.sampling[name]) for name in counts)
        return bool(words) and run.question.strip() == words and all(same)


def sent_settings(value: Any) -> dict[str, Any]:
    """By key: settings of methods, as a page sends them; each method checks the values of its own.

    Raises ``TypeError`` for what is no mapping of plain values.
    """
    if not isinstance(value, dict):
        raise TypeError("settings come by name")
    for one in value.values():
        if not isinstance(one, bool | int | float | str | None):
            raise TypeError(f"{type(one).__name__} is no setting")
    return value


def chosen(
    methods: Mapping[str, type[Compressor]], name: str, values: Mapping[str, Any]
) -> Compressor:
    """The compressor of these settings. Raises ``ValueError`` naming a bad one."""
    if name not in methods:
        raise ValueError(f"compressor={name!r} must be one of {', '.join(methods)}")
    method, settings = methods[name], {}
    for setting, (default, kind, _) in declared_settings(method).items():
        value = values.get(setting, default)
        whole = kind is int and isinstance(value, float) and value.is_integer()
        settings[setting] = int(value) if whole else value
    if not has_free_ratio(method):
        del settings[RATIO]
    return method(**settings)


def has_free_ratio(method: type[Compressor]) -> bool:
    """Whether the retention ratio of a method can be chosen."""
    declared = declared_settings(method)[RATIO][2]
    return declared.low != declared.high


def clamped(name: str, value: Any, low: float, high: float) -> float:
    """A number that came from a page, refused in words where it is none or out of range."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not low <= value <= high:
        raise ValueError(f"{name}={value!r} must be in [{low:g}, {high:g}]")
    return value


def within(value: float | None, low: float | None, high: float | None, usual: float) -> float:
    """A number moved into its bounds, where it has any; ``usual`` if there is none."""
    if value is None or value != value:  # NaN
        return usual
    least, most = (-math.inf if low is None else low), (math.inf if high is None else high)
    return min(max(value, least), most)


def pinned_settings(text: str | None) -> dict[str, Any] | None:
    """What a page or a link says of A; None, for all tokens, where that is no compressor."""
    try:
        return from_settings(json.loads((text or "")[:PINNED_CHARS])).settings()
    except (ValueError, TypeError, AttributeError, RecursionError):
        return None
