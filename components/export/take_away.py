"""Export runs as one HTML file that contains the viewer, to keep, send or publish."""

from __future__ import annotations

from collections.abc import Sequence

from gleanvid.attribution.relevance import Relevance
from gleanvid.run import Run
from gleanvid.types import VideoTokens

from ..jobs.diagnosed import diagnosed_runs, tokens_of
from ..jobs.display import Answer, count_of, duration_text, short_name
from ..jobs.engine import Engine
from ..jobs.examples import Example
from ..jobs.methods import can_answer
from ..tokens.answers import answer, caveat
from ..tokens.preview import pair
from ..viewer.payload import Packed, pack
from ..viewer.standalone import page
from ..viewer.truth import truth
from . import exports

UNMEASURED = "Relevance of the tokens (What mattered) was not measured."


def web_page(
    runs: Sequence[Run],
    tokens: VideoTokens | None = None,
    example: Example | None = None,
    relevance: Relevance | None = None,
    worth: str = "",
) -> str:
    """Return the HTML text of the offline viewer; for the arguments, see :func:`content`."""
    first, *_ = runs
    packed, answers = content(runs, tokens, example, relevance, worth)
    video = first.video
    frames = f"{count_of(len(video), 'frame')} from {duration_text(video.duration)}"
    about = f"{video.name} · {frames} · {short_name(first.model)} · GleanVID"
    title, silent = first.question or video.name, not can_answer(first.model)
    return page(packed, answers, title, about, silent)


def content(
    runs: Sequence[Run],
    tokens: VideoTokens | None = None,
    example: Example | None = None,
    relevance: Relevance | None = None,
    worth: str = "",
) -> tuple[Packed, list[Answer]]:
    """Return what the offline viewer shows, and its answers.

    Args:
        runs: runs of one clip: those shown as B and A, then others; or a single run.
        tokens: the clip's tokens, encoded by the model of the runs; with them the viewer also shows
            novelty and effective ranks.
        example: the clip, if it is one of the app's examples, whose right answers are known.
        relevance: relevance of the clip's tokens for the question of the first run.
        worth: warning in place of a verdict on the answers; empty for none.
    """
    first, *_ = runs
    packed = pack(runs, *pair(len(runs)), tokens, relevance)
    if found := truth(example.facts, first.question, first.video) if example else None:
        packed.value["truth"] = found
    if relevance is None:
        packed.value["unmeasured"] = UNMEASURED
    answers = [
        answer(
            run.answer,
            str(place),
            run=run,
            expected=example.expected(run.question) if example else None,
            caveat=worth,
        )
        for place, run in enumerate(runs)
        if run.question
    ]
    return packed, answers


def web_page_file(
    engine: Engine, ids: Sequence[str], model: str, pixels: int | None, sender: str = ""
) -> str:
    """Write the offline viewer with the runs of ``ids`` that are still stored; return its path.

    ``model`` and ``pixels`` (the limit per frame) tell which encoding of the clip is meant.
    ``sender``: see :func:`exports.make`.
    """
    runs = diagnosed_runs(engine, ids, model, pixels)
    first, example = runs[0], engine.runs.example(ids[0])
    relevance = engine.runs.relevance(ids, first.question)
    tokens = tokens_of(engine, first, model, pixels)
    text = web_page(runs, tokens, example, relevance, caveat(example, first.model))
    path = exports.new_folder(sender) / exports.file_name(first, "viewer.html")
    path.write_text(text, encoding="utf-8")
    return str(path)
