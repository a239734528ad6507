"""Types of the JSON value that the viewer gets, which `assets/viewer/data.js` reads.

The arrays are in a binary file; a ``place`` in the JSON is the byte offset of an array in it. L is
the number of visual tokens of the clip, T the number of temporal units.
"""

from __future__ import annotations

from typing import Any, NotRequired, TypedDict

File = dict[str, Any]  # Gradio's file data; the page receives a URL in its place


class Score(TypedDict):
    """A score of every token, such as LRS.

    The array at ``place`` is uint16 [L]: 0 stands for the score ``low``, 65534 for ``high``, and
    65535 for no score. ``name`` is the key of the score, ``label`` its text on the page.
    """

    name: str
    label: str
    low: float
    high: float
    place: int


class Record(TypedDict):
    """A compression record: which tokens are kept.

    ``kept``: number of tokens after compression, of ``tokens`` before. ``home``, ``weight`` and
    ``mixed`` exist only if tokens were merged; ``mixed``: a token may be in several merged tokens.
    """

    kept: int
    tokens: int
    budgets: list[int]  # number of kept tokens of each temporal unit
    mask: int  # byte offset of L bits: 1 for a kept token
    home: NotRequired[int]  # byte offset of int32 [L]: index of each token's kept token, or -1
    # byte offset of uint16 [L]: weight of each token in its kept token; 65535 stands for weight 1
    weight: NotRequired[int]
    mixed: NotRequired[bool]


class Measures(TypedDict):
    """Measures of the kept tokens of each temporal unit; each is None if unknown.

    ``rank``: effective rank of the unit's tokens. ``span``: effective rank of all tokens up to the
    unit's end. ``energy``: fraction of their energy that earlier units do not explain; None for a
    unit without tokens.
    """

    rank: list[float] | None
    span: list[float] | None
    energy: list[float | None] | None


class Stage(Record, Measures):
    """The tokens that the language model reads from ``layer`` on."""

    layer: int
    scores: list[Score]


class Split(TypedDict):
    """How GleanVID splits the kept tokens over the temporal units.

    ``alpha``: fraction of them that is spread evenly; the rest follows novelty. ``gini``: how
    unevenly novelty is spread over the units.
    """

    alpha: float
    bounds: list[float]  # lowest and highest possible alpha; empty if unknown
    gini: float


class Geometry(TypedDict):
    """The token grid [T, rows, columns], and where it lies in time and in the frame.

    ``units``: index of the temporal unit of every frame. ``area``: part of the frame that the
    tokens cover.
    """

    grid: list[int]
    units: list[int]
    area: list[float]  # left, top, right, bottom as fractions of the frame


class Method(TypedDict, total=False):
    """One run of a compressor.

    ``grid``, ``units`` and ``area`` exist only if one of them differs from the first run's.
    """

    name: str
    label: str
    first: int  # first layer at which the method drops or merges tokens; 0 if none
    stages: list[Stage]
    mattered: list[float] | None  # fraction of relevance on kept, most relevant, random tokens
    novelty: list[float] | None
    split: Split | None  # None for a compressor that does not split the tokens as GleanVID does
    grid: list[int]
    units: list[int]
    area: list[float]


class Tiles(TypedDict):
    """Layout of the image with all frames: their number, columns, and size of each in pixels."""

    count: int
    columns: int
    width: int
    height: int


class Truth(TypedDict):
    """The right answer to a question, with names and boxes of the objects that show it."""

    label: str
    question: str
    names: list[str]
    boxes: list[list[list[float]]]  # of every frame: boxes [left, top, right, bottom], as fractions


class Map(TypedDict):
    """Relevance of every token for an answer or for one of its words.

    The array at ``place`` is uint16 [L]: 0 stands for 0 and 65535 for the relevance ``high``.
    """

    word: str  # one or several words of the answer; "" for the whole answer
    high: float
    place: int


class Mattered(TypedDict):
    """Relevance maps: one for the whole answer, then one for each word."""

    question: str
    answer: str
    grid: list[int]
    maps: list[Map]


class Clip(Geometry):
    """Everything that the viewer gets about a clip."""

    name: str
    tiles: Tiles
    seconds: list[float]  # time of every frame in seconds
    novelty: list[float] | None
    a: int
    b: int | None
    methods: list[Method]
    relevance: Mattered | None
    sheet: NotRequired[File]
    data: NotRequired[File]
    video: NotRequired[File]  # the original video file
    truth: NotRequired[Truth]
    runs: NotRequired[list[str]]  # ids of the runs
    unmeasured: NotRequired[str]  # why relevance cannot be measured; empty if it can
