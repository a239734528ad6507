"""Base class of benchmarks: questions about clips, their prompts, and verdicts on answers.

A benchmark is a frozen dataclass. Its fields are its settings, such as folder and split, which
become options of ``gleanvid eval``. It is independent of models and compressors.
"""

from __future__ import annotations

import random
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar, Self

from gleanvid.types import Video, VideoTokens

if TYPE_CHECKING:
    from torch import Tensor


class BenchmarkError(ValueError):
    """Raised if a benchmark cannot be read; the message names the file, row or setting."""


@dataclass(frozen=True)
class Item:
    """One question about one clip.

    ``id`` is unique in the benchmark. ``clip`` names the clip for :meth:`Benchmark.video`; the
    bootstrap draws questions with the same ``clip`` together. ``answer`` is the index of the right
    one of ``options``. ``groups`` are columns of the results table, such as a task, in which the
    question counts besides the overall column. Raises :class:`BenchmarkError` if ``answer`` is not
    the index of an option.
    """

    id: str
    clip: str
    question: str
    options: tuple[str, ...]
    answer: int
    groups: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if not 0 <= self.answer < len(self.options):
            raise BenchmarkError(
                f"item {self.id}: answer={self.answer} must be the index of one of its "
                f"{len(self.options)} options"
            )

    @property
    def right_option(self) -> str:
        return self.options[self.answer]


class Benchmark(ABC):
    """Base class of all benchmarks.

    A response mode is one of "likelihood" (the response is the likeliest of the option texts),
    "letter" (generated after a prompt that lists the options) and "text" (generated after the
    question alone). ``how`` is the default mode, ``ways`` are all modes that the benchmark allows.

    ``columns``: the groups in the order of the table; if empty, in the order in which the items
    name them.
    ``macro_without``: name of a group. If set, results also have the mean over all groups, and the
    mean over all groups but this one. ``hard``: groups that no method nearly
    solves. If both are set, results also have the mean over the ``hard`` groups.
    """

    name: ClassVar[str]
    how: ClassVar[str] = "letter"
    ways: ClassVar[tuple[str, ...]] = ("letter",)
    columns: ClassVar[tuple[str, ...]] = ()
    macro_without: ClassVar[str] = ""
    hard: ClassVar[tuple[str, ...]] = ()
    num_frames: ClassVar[int] = 32
    max_new_tokens: ClassVar[int] = 16

    @abstractmethod
    def items(self, limit: int | None = None, seed: int = 0) -> list[Item]:
        """Return at most ``limit`` questions, those about the same clip next to each other.

        The same ``limit`` and ``seed`` give the same items. Raises :class:`BenchmarkError` if the
        annotations cannot be read.
        """

    @abstractmethod
    def video(self, clip: str, num_frames: int) -> Video:
        """Return ``num_frames`` evenly spaced frames of a clip.

        Raises ``VideoError`` on a bad file.
        """

    @abstractmethod
    def right(self, item: Item, response: str) -> bool:
        """Return whether a response, as the model wrote it, names the right option."""

    def names_an_option(self, item: Item, response: str) -> bool:
        """Return whether a response names one of the options, right or wrong."""
        options = range(len(item.options))
        return any(self.right(replace(item, answer=number), response) for number in options)

    def prompt(self, item: Item, how: str) -> str:
        """Return the text after the video: the question, and for ``how`` "letter" its options."""
        if how != "letter":
            return item.question
        options = [f"{letter(number)}. {text}" for number, text in enumerate(item.options)]
        ask = "Answer with the option's letter from the given choices directly."
        return "\n".join([item.question, *options, ask])

    def evidence(self, item: Item, tokens: VideoTokens) -> Tensor | None:
        """Return which tokens show each object that the question is about.

        The result is bool [objects, L], None if the benchmark does not know.
        """
        return None

    def for_frames(self, most: int) -> Self:
        """Return the benchmark for runs that sample at most ``most`` frames of a clip.

        A benchmark that renders its clips may need this number.
        """
        return self

    def settings(self) -> dict[str, Any]:
        """Return the settings on which questions and clips depend, as values that JSON can hold.

        A stopped evaluation can be continued only with the same settings.
        """
        return {"benchmark": self.name} | asdict(self)  # type: ignore[call-overload]


def chosen(items: Sequence[Item], limit: int | None, seed: int) -> list[Item]:
    """Return ``limit`` random items, or all if ``limit`` is None, ordered by clip.

    With the same seed, the items for a larger limit include those for a smaller one. Raises
    ``BenchmarkError`` if an id occurs twice or ``limit`` is below one.
    """
    seen: set[str] = set()
    for item in items:
        if item.id in seen:
            raise BenchmarkError(f"item id {item.id} occurs twice")
        seen.add(item.id)
    if limit is not None and limit < 1:
        raise BenchmarkError(f"limit={limit} must be at least 1, or None for all questions")
    places = list(range(len(items)))
    if limit is not None and limit < len(items):
        places = sorted(random.Random(seed).sample(places, len(places))[:limit])
    clips: dict[str, list[Item]] = {}
    for place in places:
        clips.setdefault(items[place].clip, []).append(items[place])
    return [item for together in clips.values() for item in together]


def letter(number: int) -> str:
    """Return the letter of an option by its index: 0 is A."""
    return chr(ord("A") + number)
