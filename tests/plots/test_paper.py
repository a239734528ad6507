from dataclasses import replace

import numpy as np
import pytest
from PIL import Image

from gleanvid.metrics import diagnostics_of
from gleanvid.plots import paper
from tests.plots.cases import run


def lines(figure):
    return {line.get_label(): line for line in figure.axes[0].lines}


def test_budget_plot_is_relative_to_the_uniform_budget():
    line = lines(paper.budgets([run()]))["gleanvid"]
    kept = run().compression.budgets.double()
    assert list(line.get_ydata()) == pytest.approx((kept * 6 / kept.sum()).tolist())
    assert np.mean(line.get_ydata()) == pytest.approx(1.0)


def test_overlay_figure_has_one_row_per_run_and_one_column_per_unit():
    figure = paper.overlays([run(), run("uniform")], units=[0, 5])
    titles = [axes.get_xlabel() for axes in figure.axes]
    kept = run().compression.budgets.tolist()
    assert titles[:2] == [f"0.00 s, {kept[0]} kept", f"2.50 s, {kept[5]} kept"]
    assert len(figure.axes) == 4
    above = [axes.get_title("left") for axes in figure.axes[::2]]
    assert above == [f"GleanVID 25 %: “{run().answer}”", f"Uniform 25 %: “{run().answer}”"]
    wordy = paper.overlays([replace(run(), answer="$x " * 99)], title="Clip · “Why $?”")
    assert len(wordy.axes[0].get_title("left")) == 100 and "Why $?" in wordy.get_suptitle()
    with pytest.raises(ValueError, match="at least one run"):
        paper.overlays([])


def test_composed_figure_has_masks_of_the_units_and_curves_over_seconds():
    measured = run()
    figure = paper.composed([measured, run("uniform")], units=[0, 5])
    above, below = figure.subfigs
    assert len(above.axes) == 4 and "kept" in above.axes[0].get_xlabel()
    budget, novelty, rank = below.axes
    line = next(line for line in budget.lines if line.get_label() == "GleanVID 25 %")
    assert list(line.get_ydata())[:-1] == measured.compression.budgets.tolist()
    assert list(line.get_xdata())[:-1] == pytest.approx(measured.seconds[:, 0].tolist())
    even = measured.compression.num_kept / measured.compression.grid[0]
    assert any(list(line.get_ydata()) == pytest.approx([even, even]) for line in budget.lines)
    so_far = diagnostics_of(measured).effective_rank_so_far
    assert list(rank.lines[0].get_ydata())[:-1] == pytest.approx(so_far.tolist())
    assert novelty.get_yscale() == "log" and rank.get_xlabel() == "time (s)"
    # what was not measured is left out; nothing at all is refused
    bare = run("uniform", diagnosed=False)
    assert len(paper.curves([bare]).axes) == 1
    with pytest.raises(ValueError, match="not measured"):
        paper.curves([bare], ["energy"])


@pytest.mark.parametrize(
    ("ending", "start"), [("pdf", b"%PDF"), ("png", b"\x89PNG"), ("svg", b"<?")]
)
def test_saved_paper_figures_are_valid_files(tmp_path, ending, start):
    figure = paper.overlays([run()], units=[0])
    path = tmp_path / f"figure.{ending}"
    paper.save_figure(figure, path)
    assert path.read_bytes().startswith(start)
    if ending == "png":
        assert Image.open(path).width == pytest.approx(6.75 * 300, abs=2)
    if ending == "pdf":
        assert b"/TrueType" in path.read_bytes() or b"/Type0" in path.read_bytes()
