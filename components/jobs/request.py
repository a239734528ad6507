"""What a page asks for: clip, model, compressor and options, and the runs A and B to show."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from gleanvid.compressors import from_settings
from gleanvid.compressors.base import Compressor
from gleanvid.glimpse.questions.grammar import Reading, read
from gleanvid.models.encoded import ClipKey
from gleanvid.models.generation.sampling import Sampling
from gleanvid.run import Run
from gleanvid.types import Video
from gleanvid.video.plan import check_span, seconds

from .backend import Sampled
from .examples import Example
from .local import BUILT_IN
from .methods import can_answer, make_compressor, refusal


class Range(NamedTuple):
    """Range of the values that a page setting may have."""

    least: float
    default: float
    most: float


LONGEST = 10_000  # maximum length of a question in characters
SEEDS = 2**31 - 1
NEW_TOKENS = Range(1, 64, 256)
NONE = "none"  # value in a link for a setting that is None
ALL_TOKENS: Mapping[str, Any] = {"name": "full"}
# key of the setting that lists the tokens the user chose; if it is not empty, side B keeps these
EDITED = "by_hand.keep"
FIRST_RATIO = 0.1  # when the page opens: so low that compressors differ visibly
NO_CLIP = "Choose a clip first: upload one, or take an example."
NO_ANSWERS = "The Photo encoder answers no questions: choose a Video LLM, or load one."
OTHER_FORM = (
    "Not asked: the built-in model knows a fixed set of questions{but}. The nearest are above."
)
NO_QUESTION = "Type a question first."
TOO_LONG = f"A question may have at most {LONGEST:,} characters; this one has {{count:,}}."
SAMPLING = {
    "seed": Range(0, 0, SEEDS),
    "temperature": Range(0, 0, 2),
    "top_p": Range(0.01, 1, 1),
    "max_new_tokens": NEW_TOKENS,
}


@dataclass(frozen=True)
class Request:
    """Settings and clip of one request. Invalid settings raise an error only once they are used.

    Attributes:
        path: file of the clip.
        frames: number of frames to sample.
        model: name of the model.
        compressor: name of the compressor.
        settings: settings of the compressor; those not given have their defaults.
        pixels: maximum number of pixels per frame, 0 for the model's own limit.
        sampling: fields of :class:`Sampling`; those not given have their defaults.
        example: the clip as an example of the app; None for other clips.
        start: time of the first frame, as "75", "75.5" or "1:15"; empty: start of the clip.
        end: time up to which frames are sampled; empty: end of the clip.
    """

    path: str | None
    frames: int
    model: str
    compressor: str = "gleanvid"
    settings: Mapping[str, Any] = field(default_factory=dict)
    pixels: int = 0
    sampling: Mapping[str, Any] = field(default_factory=dict)
    example: Example | None = None
    start: str = ""
    end: str = ""

    @property
    def sampled(self) -> int | Sampled:
        """Return the number of frames, with the time span if it is not the whole clip.

        Raises ``ValueError`` for invalid times.
        """
        if not self.start and not self.end:
            return self.frames
        first, last = (seconds(text) if text else None for text in (self.start, self.end))
        check_span(first, last)
        return Sampled(self.frames, first, last)

    def make_compressor(self) -> Compressor:
        """Return the compressor. Raises ``ValueError`` for settings that cannot be used."""
        compressor = make_compressor(self.compressor, self.settings)
        if why := refusal(self.model, compressor):
            raise ValueError(why)
        return compressor

    def check(self, *questions: str) -> None:
        """Raise ``ValueError`` if the clip or a question is missing, or a value out of its range.

        The message is for the user.
        """
        missing = (self.missing(question) for question in questions)
        if text := next(filter(None, missing), "" if self.path else NO_CLIP):
            raise ValueError(text)
        clamped("frames", self.frames, 1, 1024)
        clamped("pixels", self.pixels, 0, 2**24)
        _ = self.sampled
        self.checked_sampling()

    def checked_sampling(self) -> Sampling:
        """Return the generation options. Raises ``ValueError`` for values outside their ranges."""
        for name, limits in SAMPLING.items():
            if name in self.sampling:
                clamped(name, self.sampling[name], limits.least, limits.most)
        return Sampling(**self.sampling)

    def missing(self, question: str) -> str:
        """Return a sentence on why the question cannot be asked yet; empty if it can."""
        if self.path and not can_answer(self.model):
            return NO_ANSWERS
        if not self.path or not isinstance(question, str) or not question.strip():
            return NO_QUESTION if self.path else NO_CLIP
        if len(question) > LONGEST:
            return TOO_LONG.format(count=len(question))
        reading = self.reading(question)
        if reading is None or reading.text == question.strip():
            return ""
        words = " or ".join(f"“{word}”" for word in reading.unknown[:3])
        return OTHER_FORM.format(but=words and f", none with {words}")

    def worded(self, question: str) -> str:
        """Return the question in the words in which the built-in model knows it, if it does."""
        reading = self.reading(question)
        return reading.text or question if reading else question

    def reading(self, question: str) -> Reading | None:
        """Return how the built-in model reads a question about a Glimpse clip; else None."""
        asked = question.strip()
        example = self.example
        if self.model != BUILT_IN or not example or not example.has_forms or not asked:
            return None
        known = [text for text, _ in example.questions]
        return Reading(asked) if asked in known else read(asked[:LONGEST], known)

    def clip(self, video: Video, signals: frozenset[str] = frozenset()) -> ClipKey:
        """Return the key under which the encoded clip is cached.

        Its pixel limit holds for all frames together. ``signals``: optional signals, such as
        "saliency", that the compressors read.
        """
        return ClipKey(video, self.model, self.pixels * len(video) or None, signals)


@dataclass(frozen=True)
class Sides:
    """The runs on the two sides of the viewer, and the settings that their answers must have.

    B has the settings of the page. A is its baseline.

    Attributes:
        runs: ids of the runs in the viewer: B, A, then earlier ones.
        pinned: settings of A's compressor; empty for all tokens.
        question: text in the question box. Answers to another question are outdated.
        sampling: generation options of the page. Answers with other options are outdated.
        version: number that grows with every change of the page's settings. Results for an earlier
            version are not shown.
        model: name of the page's model, empty if unknown. Answers of other models are marked.
    """

    runs: Sequence[str] = ()
    pinned: Mapping[str, Any] | None = None
    question: str = ""
    sampling: Mapping[str, Any] = field(default_factory=dict)
    version: int = 0
    model: str = ""

    @property
    def reference(self) -> Compressor:
        """Return the compressor of run A, the baseline."""
        return from_settings(self.pinned or ALL_TOKENS)

    def are_answered_by(self, run: Run) -> bool:
        """Whether the run answered this question with the page's generation options.

        The answer length and the temperature are compared. At a temperature above 0, top-p and the
        seed are too.
        """
        question = self.question.strip()
        is_random = bool(self.sampling.get("temperature"))
        names = ("max_new_tokens", "temperature", *(("top_p", "seed") if is_random else ()))
        same = (
            run.made_with.get(name) in (None, self.sampling[name])
            for name in names
            if name in self.sampling
        )
        return bool(question) and run.question.strip() == question and all(same)


def clamped(name: str, value: Any, low: float, high: float) -> float:
    """Return ``value`` unchanged. Raises ``ValueError`` if it is no number in [low, high]."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not low <= value <= high:
        raise ValueError(f"{name}={value!r} must be in [{low:g}, {high:g}]")
    return value


def within(value: float | None, low: float, high: float, usual: float) -> float:
    """Return ``value`` clamped to [low, high], or ``usual`` if it is None or NaN."""
    if value is None or value != value:  # only NaN differs from itself
        return usual
    return min(max(value, low), high)
