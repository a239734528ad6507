from __future__ import annotations

import json

import pytest

from components.curves import figures
from gleanvid import GleanVID, Uniform, metrics
from gleanvid.compressors import COMPRESSORS
from gleanvid.metrics import diagnostics_of
from gleanvid.plots import FIGURES
from gleanvid.plots.labels import title_of
from tests.components.fake import FakeBackend, a_run, moving_square, runs_of

OVER_UNITS = [name for name, figure in FIGURES.items() if figure.x == "units"]


@pytest.fixture(scope="module")
def clip():
    return runs_of(GleanVID(0.25), Uniform(0.25))


def made(clip, *methods):
    runs, tokens = clip
    some = [a_run(runs[0].video, method.compress(tokens), method) for method in methods]
    return figures.measured(some, tokens)


def test_diagnostics_are_computed_once_and_stored_with_the_run(clip):
    runs, tokens = clip
    first = figures.measured(runs, tokens)
    assert all(diagnostics_of(run) for run in first)
    assert figures.measured(first, tokens)[0] is first[0]
    assert figures.measured(runs, None) == runs


def test_runs_of_another_clip_get_no_diagnostics(clip):
    runs, _ = clip
    other = FakeBackend().tokens(moving_square(4))
    assert diagnostics_of(figures.measured(runs, other)[0]) is None


def test_figures_without_data_are_not_drawn(clip):
    def missing(*methods):
        return {name for name, figure in figures.draw(made(clip, *methods)).items() if not figure}

    several = {"effective_dimension"}  # figures that need several ratios per method
    assert missing(Uniform()) == several | {"novelty"}
    assert missing(GleanVID(), Uniform()) == several
    assert missing(GleanVID(0.25), GleanVID(0.5)) == set()
    assert figures.draw([]) == dict.fromkeys(FIGURES)


def test_legend_shows_the_style_of_every_line(clip):
    """This also holds if a figure leaves out methods or shows one method at several ratios."""
    methods = [COMPRESSORS["full"](), Uniform(0.5), Uniform(0.25), GleanVID(0.5), GleanVID(0.25)]
    runs = made(clip, *methods)
    rows = {row["label"]: row for row in figures.legend(runs)["rows"]}
    assert next(iter(rows)) == "All tokens" and len(rows) == 5
    found = 0
    for name in OVER_UNITS:
        figure = figures.draw(runs)[name]
        assert figure.layout.showlegend is False
        for line in figure.data:
            if line.name in rows:
                row = rows[line.name]
                look = line.line.color, line.line.dash, line.marker.symbol
                assert look == (row["colour"], row["dash"], row["symbol"])
                found += 1
    assert found >= 4 + 2 + 5 + 5
    assert {row["method"] for row in rows.values()} == {title_of(run) for run in runs}


def test_numbers_in_the_legend_equal_the_diagnostics_of_the_run(clip):
    (run,) = made(clip, GleanVID(0.25))
    held = diagnostics_of(run)
    drawn = figures.legend([run])
    (row,), (first, *_) = drawn["rows"], drawn["columns"]
    assert first[0] == "Budget Gini"  # not the novelty Gini, which sets alpha
    gini, rank, new, missed = row["cells"]
    assert float(gini) == pytest.approx(metrics.budget_gini(run.compression), abs=0.005)
    assert float(rank) == pytest.approx(held.effective_rank / held.random_effective_rank, abs=0.005)
    assert float(new) == pytest.approx(100 * held.later_residual_energy, rel=0.05)
    assert missed == figures.NONE or float(missed) == pytest.approx(held.coverage_vs_random, 0.05)


def test_figures_and_legend_are_serialisable(clip):
    saved = json.loads(json.dumps(figures.as_json(made(clip, GleanVID(), Uniform()))))
    assert set(saved) == {*FIGURES, "legend"}
    assert saved["effective_dimension"] is None and saved["budget"]["data"]
