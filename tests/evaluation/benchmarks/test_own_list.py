"""A list of own questions: CSV, JSON and JSON Lines give the same questions."""

import json

import pytest

from gleanvid.cli import main
from gleanvid.evaluation.benchmarks import BenchmarkError, open_benchmark
from tests.video.clips import write_clip

ROWS = [
    {"clip": "a.mp4", "question": "What?", "options": ["red", "blue", "green"], "answer": "B"},
    {"clip": "b.mp4", "question": "Who?", "options": ["Ann", "Bob"], "answer": "Ann", "group": "x"},
    {"clip": "a.mp4", "question": "When?", "options": ["now", "later"], "answer": "later"},
]
CSV = """clip,question,options,answer,group
a.mp4,What?,red;blue; green,B,
b.mp4,Who?,Ann;Bob,Ann,x
a.mp4,When?,now;later,later,
"""


@pytest.fixture
def folder(tmp_path):
    for name in ("a.mp4", "b.mp4"):
        write_clip(tmp_path / name, num_frames=8)
    (tmp_path / "list.csv").write_text(CSV)
    (tmp_path / "list.json").write_text(json.dumps(ROWS))
    (tmp_path / "list.jsonl").write_text("".join(json.dumps(row) + "\n" for row in ROWS))
    return tmp_path


def opened(path):
    return open_benchmark("list", questions=str(path))


@pytest.mark.parametrize("suffix", ["csv", "json", "jsonl"])
def test_list_gives_its_questions_clip_by_clip(folder, suffix):
    items = opened(folder / f"list.{suffix}").items()
    assert [(item.clip, item.question, item.right_option) for item in items] == [
        ("a.mp4", "What?", "blue"),
        ("a.mp4", "When?", "later"),
        ("b.mp4", "Who?", "Ann"),
    ]
    assert items[0].options == ("red", "blue", "green") and items[2].groups == ("x",)


@pytest.mark.parametrize(
    ("said", "right"),
    [
        ("B", True), ("(B)", True), ("b", False), ("B. blue", True), ("Blue.", True),
        ("The answer is B.", True), ("The best option is: (B) blue", True), ("A", False),
        ("", False), ("A blue thing", False), ("Before that", False),
    ],
)  # fmt: skip
def test_answer_is_right_by_letter_or_by_text(folder, said, right):
    benchmark = opened(folder / "list.csv")
    assert benchmark.right(benchmark.items()[0], said) is right


@pytest.mark.parametrize(
    ("row", "reason"),
    [
        ({"answer": ""}, "row 2 of .* must have the columns clip, question, options, answer"),
        ({"answer": "C"}, r"row 2 of .*: answer='C' must be one of the options \['Ann', 'Bob'\]"),
        ({"options": "Ann"}, "at least two"),
        ({"clip": "none.mp4"}, "there is no clip none.mp4"),
    ],
)
def test_error_names_the_row_of_a_list(folder, row, reason):
    (folder / "list.json").write_text(json.dumps([ROWS[0], ROWS[1] | row]))
    with pytest.raises(BenchmarkError, match=reason):
        opened(folder / "list.json").items()


@pytest.mark.parametrize("text", ["", "[]", "{", "3"])
def test_file_without_questions_is_refused(folder, text):
    (folder / "list.json").write_text(text)
    with pytest.raises(BenchmarkError, match=r"list\.json"):
        opened(folder / "list.json").items()


def test_eval_of_a_list_resumes_and_refuses_a_changed_list(folder, capsys, monkeypatch):
    # saving figures would take most of the time
    monkeypatch.setattr("gleanvid.evaluation.tables.publish._save", lambda *_: None)
    words = ["eval", "--benchmark", "list", "--questions", str(folder / "list.csv")]
    words += ["--compressor", "uniform,gleanvid", "--num-frames", "4"]
    words += ["--out", str(folder / "out"), "--device", "cpu"]
    assert main(words) == 0
    table = (folder / "out" / "table.md").read_text()
    assert "list: 3 questions about 2 clips" in table and "Holm" in table
    assert json.loads((folder / "out" / "results.json").read_text())["how"] == ["likelihood"]
    assert str(folder) not in table
    journal = (folder / "out" / "journal.jsonl").read_bytes()
    assert main(words) == 0 and (folder / "out" / "journal.jsonl").read_bytes() == journal
    (folder / "list.csv").write_text(CSV.replace("Ann,x", "Bob,x"))
    assert main(words) == 2
    assert "benchmark.content" in capsys.readouterr().err


def test_eval_says_how_many_responses_name_no_option(folder, capsys, monkeypatch):
    monkeypatch.setattr("gleanvid.evaluation.tables.publish._save", lambda *_: None)
    words = ["eval", "--benchmark", "list", "--questions", str(folder / "list.csv")]
    words += ["--compressor", "uniform", "--num-frames", "4", "--how", "letter,likelihood"]
    assert main([*words, "--out", str(folder / "out"), "--device", "cpu"]) == 0
    assert "6 of 6 responses (letter) name no option" in capsys.readouterr().err
    assert main([*words, "--limit", "1", "--out", str(folder / "out"), "--device", "cpu"]) == 0
    assert "2 of 2 responses (letter) name no option" in capsys.readouterr().err
