"""What is drawn are the numbers of the record or the metric, over the right axis."""

import json

import pytest

from gleanvid import metrics, plots
from gleanvid.plots.palette import looks
from gleanvid.plots.style import labels
from tests.plots.cases import run

METHODS = ("gleanvid", "uniform", "random")
TITLES = ("GleanVID", "Uniform", "Random")
OVER_UNITS = {
    "budget_figure": lambda made: made.compression.budgets,
    "effective_rank_figure": lambda made: metrics.diagnostics_of(made).effective_rank_by_unit,
    "residual_energy_figure": lambda made: metrics.diagnostics_of(made).residual_energy_by_unit,
    "basis_rank_figure": lambda made: metrics.diagnostics_of(made).basis_rank,
}
FIGURES = [name for name in plots.__all__ if name.endswith("_figure")]


def some_runs():
    return [run(name) for name in METHODS]


@pytest.mark.parametrize("name", OVER_UNITS)
def test_lines_over_units_show_the_values_and_the_seconds(name):
    figure = getattr(plots, name)(some_runs())
    for made, line in zip(some_runs(), figure.data, strict=False):
        values = [None if value != value else value for value in OVER_UNITS[name](made).tolist()]
        assert list(line.y) == values
        assert list(line.x) == list(range(1, 7))
        assert list(line.customdata) == made.seconds[:, 0].tolist()


def test_one_run_has_bars_and_the_uniform_line():
    bars, line = plots.budget_figure(run()).data
    assert bars.type == "bar" and list(bars.y) == run().compression.budgets.tolist()
    assert set(line.y) == {run().compression.num_kept / 6}
    assert f"Gini {metrics.budget_gini(run().compression):.2f}" in bars.name


def test_each_budget_has_its_own_uniform_line():
    figure = plots.budget_figure([run(), run("uniform"), run(ratio=0.5)])
    assert [line.y[0] for line in figure.data[3:]] == [5.0, 10.0]


def test_novelty_leaves_out_methods_without_it_and_says_so_if_none_has():
    figure = plots.novelty_figure([run("uniform"), run()])
    assert [list(line.y) for line in figure.data] == [run().compression.trace["novelty"].tolist()]
    assert "Gini" in figure.data[0].name and "alpha" in figure.data[0].name
    alone = plots.novelty_figure(run("uniform"))
    assert "Uniform does not measure novelty" in alone.layout.annotations[0].text


def test_curves_against_retention_from_runs_and_from_numbers():
    sweep = [run(ratio=ratio) for ratio in (0.5, 0.1, 0.25)]
    (line,) = plots.effective_dimension_figure(sweep).data
    assert list(line.x) == sorted(made.compression.num_kept / 120 for made in sweep)
    by_share = {
        made.compression.num_kept / 120: metrics.diagnostics_of(made).effective_rank
        for made in sweep
    }
    assert list(line.y) == [by_share[share] for share in line.x]
    (line,) = plots.coverage_error_figure({"mine": {0.4: 0.1, 0.2: 0.3}}).data
    assert (line.name, list(line.x), list(line.y)) == ("mine", [0.2, 0.4], [0.3, 0.1])


def test_spatial_iou_has_a_line_a_run_and_the_random_one_last():
    figure = plots.spatial_iou_figure(some_runs())
    assert [line.name for line in figure.data] == [*TITLES, "random positions"]
    line = metrics.spatial_iou_curve(run().compression, range(1, 6))
    assert list(figure.data[0].y) == line.tolist()
    line = metrics.random_iou_curve(run().compression, range(1, 6))
    assert list(figure.data[-1].y) == line.tolist()


def test_mask_overlap_is_the_matrix_under_the_runs_names():
    (heat,) = plots.mask_overlap_figure(some_runs()).data
    assert list(heat.x) == list(TITLES)
    assert [list(row) for row in heat.z] == metrics.mask_overlaps(
        [made.compression for made in some_runs()]
    ).tolist()


def test_cost_against_quality_joins_the_ratios_of_a_method_by_cost():
    runs = [run(), run("uniform"), run(ratio=0.5)]
    ours, other = plots.cost_quality_figure(runs, [0.9, float("nan"), 0.95], "score").data
    assert (ours.name, list(ours.x), list(ours.y)) == ("GleanVID", [0.5, 0.5], [0.9, 0.95])
    assert list(other.y) == [None]


@pytest.mark.parametrize("name", FIGURES)
def test_every_figure_is_json_takes_one_run_and_fits_light_and_dark(name):
    draw = getattr(plots, name)
    one = [run()] if name in ("mask_overlap_figure", "cost_quality_figure") else run()
    if name == "cost_quality_figure":
        draw = lambda runs: plots.cost_quality_figure(runs, [0.5] * len(runs), "quality")  # noqa: E731
    for figure in (draw(one), draw(some_runs())):
        json.loads(figure.to_json())
        assert figure.layout.paper_bgcolor == figure.layout.plot_bgcolor == "rgba(0,0,0,0)"
        drawn = [line for line in figure.data if line.type == "scatter"]
        assert len({(line.line.color, line.line.dash) for line in drawn}) == len(drawn)


@pytest.mark.parametrize("name", ["effective_rank_figure", "coverage_error_figure"])
def test_without_diagnostics_a_figure_says_so(name):
    figure = getattr(plots, name)([run(diagnosed=False)])
    assert not figure.data
    assert "not measured" in figure.layout.annotations[0].text


def test_runs_have_names_of_their_own():
    runs = [run(), run(ratio=0.5), run("uniform"), run(alpha_min=0.4)]
    assert labels(runs) == ["GleanVID 25% alpha_min 0.2", "GleanVID 50%", "Uniform",
                            "GleanVID 25% alpha_min 0.4"]  # fmt: skip
    assert labels([run()]) == ["GleanVID"]


def test_many_series_stay_apart():
    names = ["full", "gleanvid", *(f"m{number}" for number in range(15))]
    found = {(look["line"]["color"], look["line"]["dash"]) for look in looks(names)}
    assert len(found) == len(names)


def test_unknown_pictures_are_refused():
    with pytest.raises(AttributeError, match="no_figure"):
        plots.no_figure  # noqa: B018
