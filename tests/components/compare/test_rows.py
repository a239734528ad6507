import json

import pytest

from components.compare import rows
from components.jobs.engine import Engine
from gleanvid.plots.palette import styles
from tests.components.compare.test_comparing import compared
from tests.components.fake import FakeBackend

pytestmark = pytest.mark.usefixtures("cache")


def test_comparison_table_contains_question_settings_and_verdicts(clip):
    made = compared(Engine(FakeBackend()), clip, ["uniform"])[-1].rows
    said = made[0].run.answer
    for expected, right in ((said.upper() + ".", True), ("something else", False), (None, None)):
        asked = rows.Asked("What moves?", "square.mp4", expected, {"frames": 8})
        value = json.loads(json.dumps(rows.table_view(made, asked, done=True), allow_nan=False))
        assert value["asked"]["settings"] == {"frames": 8}
        assert value["asked"]["question"] == "What moves?"
        assert [line["right"] for line in value["rows"]] == [right, right]
        assert [line["answer"] for line in value["rows"]] == [said, made[1].run.answer]


def test_comparison_row_has_its_method_s_colour_and_symbol_and_sortable_numbers(clip):
    made = compared(Engine(FakeBackend()), clip, ["uniform", "gleanvid"])[-1].rows
    value = rows.table_view([*made, rows.Row("Late", "random")], rows.Asked())
    (_, ours, uniform, late) = value["rows"]
    (look,) = styles(["uniform"])
    assert (uniform["colour"], uniform["symbol"]) == (
        look["line"]["color"],
        look["marker"]["symbol"],
    )
    titles = [title for title, _, _ in value["columns"]]
    assert all(list(line["cells"]) == titles for line in value["rows"])
    assert ours["cells"]["Tokens"] == ["112", 112] and late["cells"]["Tokens"] == [rows.NONE, None]
    assert not value["done"] and late["state"] == "waiting"
    assert len(rows.table_view([*made, rows.Row("Late")], rows.Asked(), done=True)["rows"]) == 3


@pytest.mark.parametrize(
    ("value", "text"),
    [(1600, "1,600"), (1234.5, "1,234"), (12.34, "12.3"), (0.5, "0.50"), (-0.0123, "−0.012")],
)
def test_numbers_of_the_comparison_have_three_significant_digits(value, text):
    assert rows.figure_text(value) == text


def test_comparison_returned_by_the_api_contains_numbers_and_no_nan(clip):
    made = compared(Engine(FakeBackend()), clip, ["uniform"])[-1].rows
    table = rows.table([*made, rows.Row("late")])
    kept = [row.run.compression.num_kept for row in made]
    assert [line["tokens"] for line in table] == [*kept, None] and kept[0] == 4 * kept[1]
    view = rows.table_view(made, rows.Asked())
    assert [line["cells"]["Tokens"] for line in view["rows"]] == [[f"{n:,}", n] for n in kept]
    assert table[1]["agreement"] == 1.0
    assert table[2]["ttft_s"] is None and table[2]["answer"] is None


def test_row_of_several_questions_has_a_confidence_interval_and_a_run_per_question(clip):
    engine = Engine(FakeBackend(words=2))
    last = compared(engine, clip, ["uniform"], more=["Where to?", "How many?"])[-1]
    listed = [("What moves?", "word0 word1"), ("Where to?", "left"), ("How many?", None)]
    asked = rows.Asked("What moves?", "square.mp4", "word0 word1", questions=listed)
    value = json.loads(json.dumps(rows.table_view(last.rows, asked, done=True), allow_nan=False))
    assert value["asked"]["count"] == 3
    for line in value["rows"]:
        assert [one["right"] for one in line["each"]] == [True, False, None]
        runs = [engine.runs.get(one["id"]) for one in line["each"]]
        assert [run.question for run in runs] == [text for text, _ in listed]
        quality = line["quality"]
        assert (quality["right"], quality["of"]) == (1, 2)
        assert 0 < quality["low"] < 0.5 < quality["high"] < 1
