"""The fields of a viewer's value, which `assets/viewer/data.js` reads.

A ``place`` is a byte offset in the viewer's binary file. L is the number of tokens, T the number of
temporal units.
"""

from __future__ import annotations

from typing import Any, NotRequired, TypedDict

File = dict[str, Any]  # Gradio's file data; the page receives a URL in its place


class Score(TypedDict):
    """One score of every token: uint16 [L] at byte ``place``, scaled from ``low`` to ``high``."""

    name: str
    label: str
    low: float
    high: float
    place: int


class Record(TypedDict):
    """One :class:`Compression`; ``home`` and ``weight`` exist only if it merges tokens."""

    kept: int
    tokens: int
    budgets: list[int]  # number of kept tokens of each temporal unit
    mask: int  # byte offset of the mask, L bits
    home: NotRequired[int]  # byte offset of the merge target of each token, int32 [L]
    weight: NotRequired[int]  # byte offset of the weight of each token, uint16 [L]
    mixed: NotRequired[bool]


class Stage(Record):
    """The tokens that the language model reads from ``layer`` on.

    ``rank``: effective rank of the kept tokens of each unit; ``span``: effective rank of all kept
    tokens up to the end of each unit.
    """

    layer: int
    scores: list[Score]
    rank: list[float] | None
    span: list[float] | None


class Split(TypedDict):
    """Fraction of the budget spread evenly, its bounds, and how uneven novelty is (Gini)."""

    alpha: float
    bounds: list[float]  # lowest and highest possible alpha; empty if unknown
    gini: float


class Geometry(TypedDict):
    """Token grid [T, rows, columns], unit of every frame, and area of the frame with tokens."""

    grid: list[int]
    units: list[int]
    area: list[float]  # left, top, right, bottom as fractions of the frame


class Method(TypedDict, total=False):
    """One run; it has a geometry only if this differs from the geometry of the first run."""

    name: str
    label: str
    first: int  # first layer at which the method drops or merges tokens
    stages: list[Stage]
    mattered: list[float] | None  # relevance of kept, most relevant, random tokens
    novelty: list[float] | None
    split: Split | None  # None if alpha does not explain the run's budgets
    grid: list[int]
    units: list[int]
    area: list[float]


class Tiles(TypedDict):
    """Layout of the sheet of all frames: number of frames, columns, frame size in pixels."""

    count: int
    columns: int
    width: int
    height: int


class Sheet(TypedDict):
    tiles: Tiles
    cuts: list[int]  # indices of the frames at which a new scene begins


class Sketch(TypedDict):
    width: int
    place: int  # byte offset of the feature sketch (features.py), int8 [L, width]


class Truth(TypedDict):
    """The right answer to a question, with names and boxes of the objects it rests on."""

    label: str
    question: str
    names: list[str]
    boxes: list[list[list[float]]]  # boxes of every frame: left, top, right, bottom as fractions


class Map(TypedDict):
    """Relevance of every token: uint16 [L] at byte ``place``, scaled from 0 to ``high``."""

    word: str  # a word of the answer; "" for the whole answer
    high: float
    place: int


class Mattered(TypedDict):
    """Relevance maps: one for the whole answer, then one for each word."""

    question: str
    answer: str
    grid: list[int]
    maps: list[Map]


class Clip(Sheet, Geometry):
    """Everything that the viewer gets about a clip."""

    name: str
    seconds: list[float]  # time of every frame in seconds
    novelty: list[float] | None
    sketch: Sketch | None
    a: int
    b: int | None
    methods: list[Method]
    relevance: Mattered | None
    left_out: list[str]  # names of scores that were not sent, to limit the file's size
    bytes: dict[str, int]
    sheet: NotRequired[File]
    data: NotRequired[File]
    video: NotRequired[File]  # the original video file
    truth: NotRequired[Truth]
    runs: NotRequired[list[str]]  # ids of the runs
    unmeasured: NotRequired[str]  # why no relevance can be measured; empty if it can
