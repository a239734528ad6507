"""Every curve is drawn for one run and for several, with diagnostics where features are at hand."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest

from components.session import figures
from gleanvid import GleanVID, Uniform
from gleanvid.metrics import diagnostics_of
from tests.components.fake import Library, a_run, moving_square


@pytest.fixture(scope="module")
def clip():
    video, library = moving_square(), Library()
    tokens = library.tokens(video)
    methods = [GleanVID(0.25), Uniform(0.25)]
    return [a_run(video, method.compress(tokens), method) for method in methods], tokens


def test_diagnostics_are_taken_once_and_kept_with_the_run(clip):
    runs, tokens = clip
    first = figures.measured(runs, tokens)
    assert all(diagnostics_of(run) for run in first)
    assert figures.measured(first, tokens)[0] is first[0]
    assert figures.measured(runs, None) == runs


def test_runs_of_another_clip_are_left_as_they_are(clip):
    runs, _ = clip
    other = Library().tokens(moving_square(4))
    assert diagnostics_of(figures.measured(runs, other)[0]) is None


def test_every_plot_gets_its_figure(clip):
    runs, tokens = clip
    alone = figures.draw(figures.measured(runs[:1], tokens))
    assert [name for name, figure in alone.items() if figure is None] == ["mask_overlap"]
    both = figures.draw(figures.measured(runs, tokens))
    assert all(both.values())
    assert {trace.name for trace in both["effective_rank"].data if trace.y is not None}
    for name in figures.OVER_UNITS:  # x is the unit, counted from 1: what the page's script expects
        assert list(both[name].data[0].x)[:2] == [1, 2]


def test_a_figure_grows_by_its_legend_and_not_at_the_cost_of_the_picture(clip):
    runs, tokens = clip
    measured = [figures.measured(runs[:count], tokens) for count in (1, 2)]
    one, two = (figures.draw(some)["effective_rank"] for some in measured)
    inner = [f.layout.height - f.layout.margin.b - f.layout.margin.t for f in (one, two)]
    assert inner[0] == inner[1]


def test_logarithmic_axes_end_above_their_highest_value_also_where_all_is_zero(clip):
    runs, tokens = clip
    drawn = figures.draw(figures.measured(runs, tokens))
    top = max(max(line.y) for line in drawn["novelty"].data)
    assert drawn["novelty"].layout.yaxis.range[1] == pytest.approx(math.log10(top) + 0.1)
    assert drawn["residual_energy"].layout.yaxis.range == figures.LOG_RANGE
    trace = dict(runs[0].compression.trace)
    nothing = replace(runs[0].compression, trace=trace | {"novelty": 0 * trace["novelty"]})
    flat = figures.draw([replace(runs[0], by_layer={0: nothing})])
    assert flat["novelty"].layout.yaxis.range == figures.LOG_RANGE


def test_a_long_word_in_the_brackets_goes_and_the_figure_stays():
    assert figures.brief("V-CAST (10.0 over all units)") == "V-CAST (10.0)"
    assert figures.brief("V-CAST 25% (Gini 0.27)") == "V-CAST 25% (0.27)"
    assert figures.brief("V-CAST (mean 6.3%)") == "V-CAST (6.3%)"
    for name in ("All tokens", "B/T = 25.0", "novelty (Gini 0.77, alpha 0.29)"):
        assert figures.brief(name) == name


def test_no_runs_no_figures():
    assert figures.draw([]) == dict.fromkeys(figures.TITLES)
