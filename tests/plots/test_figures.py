import inspect
import json
import math
from dataclasses import replace

import numpy as np
import pytest

from gleanvid import metrics, plots
from gleanvid.compressors import COMPRESSORS
from gleanvid.plots.labels import labels
from gleanvid.plots.palette import styles
from gleanvid.types import Video
from tests.plots.cases import run

METHODS = ("gleanvid", "uniform", "random")
OVER_UNITS = {
    "budget_figure": lambda made: made.compression.budgets.tolist(),
    "effective_rank_figure": lambda made: diagnosed(made).effective_rank_by_unit.tolist(),
    "residual_energy_figure": lambda made: without_first_unit_and_noise(
        diagnosed(made).residual_energy_by_unit.tolist()
    ),
}
FIGURES = [name for name in plots.__all__ if name.endswith("_figure")]


def some_runs():
    return [run(name) for name in METHODS]


def diagnosed(made):
    return metrics.diagnostics_of(made)


def without_first_unit_and_noise(values):
    return [math.nan, *(value if value >= metrics.ROUNDING else math.nan for value in values[1:])]


@pytest.mark.parametrize("name", OVER_UNITS)
def test_lines_of_figures_over_units_hold_each_unit_s_value_and_start_in_seconds(name):
    figure = getattr(plots, name)(some_runs())
    for made, line in zip(some_runs(), figure.data, strict=False):
        values = [None if value != value else value for value in OVER_UNITS[name](made)]
        assert list(line.y) == values
        assert list(line.x) == list(range(1, 7))
        assert list(line.customdata) == made.seconds[:, 0].tolist()


@pytest.mark.parametrize("name", FIGURES)
def test_every_figure_is_json_serialisable_and_transparent_with_distinct_lines(name):
    draw = getattr(plots, name)
    for figure in (draw(run()), draw(some_runs())):
        json.loads(figure.to_json())
        assert figure.layout.paper_bgcolor == figure.layout.plot_bgcolor == "rgba(0,0,0,0)"
        drawn = [line for line in figure.data if line.type == "scatter"]
        assert len({(line.line.color, line.line.dash) for line in drawn}) == len(drawn)


def test_labels_of_runs_in_a_figure_are_unique():
    runs = [run(), run(ratio=0.5), run("uniform"), run(alpha_min=0.4), run("full", 1.0), run()]
    assert labels(runs) == ["GleanVID 25 %", "GleanVID 50 %", "Uniform 25 %",
                            "GleanVID 25 % · alpha min 0.4", "All tokens",
                            "GleanVID 25 % (2)"]  # fmt: skip
    assert labels([run()]) == ["GleanVID 25 %"]


@pytest.mark.parametrize("more", [[], ["gleanvid"] * 6, ["mine", "yours", "uniform"]])
def test_methods_are_distinguishable_without_colours(more):
    names = [*COMPRESSORS, *more]
    assert len(COMPRESSORS) >= 17
    found = {(style["line"]["dash"], style["marker"]["symbol"]) for style in styles(names)}
    assert len(found) == len(names)


def test_overlay_outlines_kept_tokens_and_darkens_the_rest():
    made = run()
    plain = plots.overlay_frame(run("full", 1.0), 0)
    assert (plain == 200).all()  # with all tokens kept, there is nothing to outline
    shown = plots.overlay_frame(made, 1)
    mask = made.compression.mask.view(6, 4, 5)[1].repeat_interleave(10, 0).repeat_interleave(10, 1)
    kept, level = mask.numpy(), shown[..., 0]
    assert (level[~kept] == 44).all() and set(level[kept].flatten()) == {200, 240}
    beside = np.pad(~kept, 1)[1:-1, :-2] | np.pad(~kept, 1)[1:-1, 2:]
    assert (level[kept & beside] == 240).all()


def test_plots_of_one_unit_take_its_number_and_which_of_its_frames():
    made = run("full", 1.0)
    frames = np.stack([np.full((40, 50, 3), level, np.uint8) for level in range(12)])
    made = replace(made, video=Video.from_frames(frames, fps=4.0))  # two frames a unit
    assert (plots.overlay_frame(made, unit=2) == 4).all()
    assert (plots.overlay_frame(made, unit=2, nth=1) == 5).all()
    one, other = (plots.side_by_side([made, made], unit=2, nth=nth)[-1, 0, 0] for nth in (0, 1))
    assert (one, other) == (4, 5)
    for wrong in ({"unit": 6}, {"unit": -1}, {"unit": 0, "nth": 2}):
        with pytest.raises(ValueError, match=r"must be in \[0, "):
            plots.overlay_frame(made, **wrong)
    for plot in (plots.overlay_frame, plots.side_by_side, plots.heat_frame):
        assert "frame" not in inspect.signature(plot).parameters
