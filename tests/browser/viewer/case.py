"""Opens the viewer with runs of four methods on a small clip; functions to navigate in it."""

import threading
from dataclasses import replace
from typing import NamedTuple

import pytest
import torch

from components.viewer.payload import Packed, pack
from gleanvid import COMPRESSORS
from gleanvid.attribution.relevance import Relevance
from gleanvid.models.encoded import ClipKey
from gleanvid.run import Run
from gleanvid.types import Compression, VideoTokens
from tests.browser.steps import settle
from tests.browser.viewer.alone import open_alone
from tests.components.fake import COLUMNS, ROWS, FakeBackend, moving_square
from tests.components.made_up import made_up_run

CELLS = ROWS * COLUMNS
VIEWS = ["kept", "heat", "relevance", "ab", "groups", "original"]
FRAME = "[data-side=a] .gv-frame"
PRUNED, MERGED, LATE, OTHER = range(4)  # indices of the runs in the viewer
LAYERS = (448, 448, 40, 40, 40, 10)  # visual tokens at each layer in the run LATE


class Case(NamedTuple):
    runs: list[Run]
    tokens: VideoTokens
    relevance: Relevance
    packed: Packed


@pytest.fixture(name="case", scope="module")
def made_case() -> Case:
    """Return runs of GleanVID, a merging method, a method inside the model, and Random."""
    video, library = moving_square(8), FakeBackend()
    tokens = library.tokens(video)
    records = [COMPRESSORS[name]().compress(tokens) for name in ("gleanvid", "prunevid", "random")]
    inner = Compression.pruned(torch.arange(0, 40, 4), tokens.grid, num_tokens=40)
    late = {2: Compression.pruned(torch.arange(40), tokens.grid, num_tokens=len(tokens)), 5: inner}
    inside = made_up_run(video, late, "fastv")
    runs = [
        made_up_run(video, records[0], "gleanvid"),
        made_up_run(video, records[1], "prunevid"),
        replace(inside, cost=replace(inside.cost, visual_tokens_by_layer=LAYERS)),
        made_up_run(video, records[2], "random"),
    ]
    clip = ClipKey(video, "builtin")
    found = library.relevance(clip, "What moves?", "A red square.", None, threading.Event())
    return Case(runs, tokens, found, pack(runs, 0, None, tokens, found))


@pytest.fixture(name="shared", scope="module")
def shared_tab(window):
    page = window.new_page()
    page.set_viewport_size({"width": 1000, "height": 900})
    yield page
    page.close()


@pytest.fixture(name="page")
def fresh_page(shared, case):
    """Page on which the viewer shows the runs of ``case``."""
    return open_alone(shared, case.packed)


def caption(page) -> str:
    settle(page)
    return page.locator(".gv-caption").inner_text()


def choose(page, **pair) -> None:
    page.evaluate(
        "(detail) => document.dispatchEvent(new CustomEvent('gleanvid:pair', { detail }))", pair
    )


def look_at(page, unit: int) -> None:
    page.evaluate(
        "(unit) => document.dispatchEvent(new CustomEvent('gleanvid:unit', { detail: { unit } }))",
        unit,
    )
    settle(page)


def over(page, token: int) -> dict[str, float]:
    """Return the centre of a token, in pixels from the frame's top left corner."""
    box = page.locator(FRAME).bounding_box()
    row, column = divmod(token % CELLS, COLUMNS)
    return {"x": (column + 0.5) / COLUMNS * box["width"], "y": (row + 0.5) / ROWS * box["height"]}
