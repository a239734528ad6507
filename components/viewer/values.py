"""The value of a viewer, field by field, as `assets/viewer/data.js` reads it.

Places are bytes into the binary file beside it. L tokens, T units.
"""

from __future__ import annotations

from typing import Any, NotRequired, TypedDict

File = dict[str, Any]  # Gradio's file data; the page receives a URL in its place


class Score(TypedDict):
    """One score of every token: ``place`` of L uint16, levels between ``low`` and ``high``."""

    name: str
    label: str
    low: float
    high: float
    place: int


class Record(TypedDict):
    """One :class:`Compression`; ``home`` and ``weight`` are there where it merges."""

    kept: int
    tokens: int
    budgets: list[int]  # T
    mask: int  # byte offset of L bits
    home: NotRequired[int]  # byte offset of L int32
    weight: NotRequired[int]  # byte offset of L uint16
    mixed: NotRequired[bool]


class Stage(Record):
    """What is left from a layer on; ``rank`` by unit, ``span`` of all that is kept so far."""

    layer: int
    scores: list[Score]
    rank: list[float] | None
    span: list[float] | None
    mattered: list[float] | None  # fractions: kept of what mattered, kept by the best tokens


class Split(TypedDict):
    """Fraction of the budget spread evenly, and how unevenly novelty is spread (Gini)."""

    alpha: float
    gini: float


class Geometry(TypedDict):
    """Where the tokens lie: [T, rows, columns], the unit of every frame, their part of it."""

    grid: list[int]
    units: list[int]
    area: list[float]  # left, top, right, bottom as fractions of the frame


class Method(TypedDict, total=False):
    """One run; its geometry stands here where it is not that of the first one."""

    name: str
    label: str
    first: int  # layer
    stages: list[Stage]
    novelty: list[float] | None
    split: Split | None  # None: not a budget by Eq. budget
    grid: list[int]
    units: list[int]
    area: list[float]


class Tiles(TypedDict):
    """The sheet of all frames: how many, in how many columns, and their size in pixels."""

    count: int
    columns: int
    width: int
    height: int


class Sheet(TypedDict):
    tiles: Tiles
    cuts: list[int]  # frames at which the scene changes


class Sketch(TypedDict):
    width: int
    place: int  # offset of L x width int8


class Truth(TypedDict):
    """The right answer, and where the objects that it rests on are to be seen."""

    label: str
    boxes: list[list[list[float]]]  # for every frame: left, top, right, bottom as fractions


class Map(TypedDict):
    """Relevance of every token: ``place`` of L uint16, levels between 0 and ``high``."""

    word: str  # a word of the answer; "" for the whole answer
    high: float
    place: int


class Mattered(TypedDict):
    """Which tokens an answer rests on: a map of all of it, then one for every word."""

    question: str
    answer: str
    grid: list[int]
    maps: list[Map]


class Clip(Sheet, Geometry):
    """Everything that the viewer gets about a clip."""

    name: str
    seconds: list[float]  # time of every frame
    novelty: list[float] | None
    sketch: Sketch | None
    a: int
    b: int | None
    methods: list[Method]
    relevance: Mattered | None
    left_out: list[str]  # scores that stayed on the server
    bytes: dict[str, int]
    sheet: NotRequired[File]
    data: NotRequired[File]
    video: NotRequired[File]  # the clip's own
    truth: NotRequired[Truth]
    runs: NotRequired[list[str]]  # ids
    unmeasured: NotRequired[str]  # why no relevance can be measured; empty if it can
