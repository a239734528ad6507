import pytest

from gleanvid.plots.accuracy import group_figure, retention_figure

POINTS = [(0.5, 0.9, 0.88, 0.92), (0.1, 0.6, 0.57, 0.63), (0.25, 0.8, 0.77, 0.83)]


def drawn(axes):
    return {line.get_label(): line for line in axes.lines if not line.get_label().startswith("_")}


def test_few_methods_share_one_plot_with_points_in_order_of_retention():
    figure = retention_figure({"uniform": POINTS, "GleanVID": POINTS}, "accuracy (%)")
    (axes,) = figure.axes
    lines = drawn(axes)
    assert list(lines) == ["GleanVID", "uniform"]
    for line in lines.values():
        assert line.get_xdata() == pytest.approx([10, 25, 50])
        assert line.get_ydata() == pytest.approx([60, 80, 90])
    assert [text.get_text() for text in axes.get_legend().texts] == ["GleanVID", "uniform"]


def test_many_methods_get_one_panel_each_with_gleanvid_in_the_background():
    names = ["GleanVID", *(f"method {n}" for n in range(9))]
    figure = retention_figure(dict.fromkeys(names, POINTS), "accuracy (%)", title="t")
    panels = [axes for axes in figure.axes if axes.axison]
    assert [axes.get_title() for axes in panels] == names[1:]
    assert all(list(drawn(axes)) == ["GleanVID", axes.get_title()] for axes in panels)


def test_every_question_group_has_a_panel_with_its_own_accuracies():
    low = [(kept, value / 2, 0.0, 1.0) for kept, value, _, _ in POINTS]
    groups = {"flash (9)": {"GleanVID": POINTS}, "cut (7)": {"GleanVID": low}}
    figure = group_figure(groups, {"flash (9)": 0.95, "cut (7)": 0.5})
    assert [axes.get_title() for axes in figure.axes] == list(groups)
    first, second = (drawn(axes)["GleanVID"].get_ydata() for axes in figure.axes)
    assert first == pytest.approx([60, 80, 90]) and second == pytest.approx([30, 40, 45])
