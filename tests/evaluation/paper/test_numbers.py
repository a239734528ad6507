"""The paper's numbers agree with the presets and, up to known errors, with each other."""

import json
from types import SimpleNamespace

import pytest

from gleanvid.cli import main
from gleanvid.compressors import GleanVID
from gleanvid.compressors.fastvid import FastVID
from gleanvid.cost import prefill_flops
from gleanvid.evaluation.paper.numbers import (
    BENCHMARKS,
    choose,
    ours,
    read_results,
    setups_of,
    tables,
)
from gleanvid.evaluation.paper.presets import ABLATIONS, PRESETS
from gleanvid.evaluation.paper.render import text

ALL = [(table, row) for table in tables().values() for row in table.rows]
LENGTHS = tuple(f"videomme/{length}" for length in ("short", "medium", "long"))
EXACT = 0.05 + 1e-9  # largest rounding error of a number with one decimal

# Errors in the paper: (table, setup, column) -> (printed value, value computed from other numbers
# of the same row).
DOES_NOT_ADD_UP = {
    ("qwen3-vl-8b-32", "holitom(retention_ratio=0.15)@32", "videomme"): (58.3, 58.43),
    ("llava-video-7b", "vidcom2(retention_ratio=0.25)@64", "videomme"): (61.7, 61.57),
    ("fixed-token-budget", "vcast(retention_ratio=0.1)@160", "percent"): (110.1, 110.03),
    ("efficiency-llava-onevision", "vcast(retention_ratio=0.25)@32", "generate_s change"): (
        -37.0,
        -37.06,
    ),
    ("efficiency-llava-onevision", "gleanvid(retention_ratio=0.25)@32", "prefill_s change"): (
        -73.1,
        -73.03,
    ),
}


def check(table, row, column, expected, slack):
    """Check that the paper's number is ``expected`` up to ``slack``, or a known error."""
    printed = row.values[column]
    known = DOES_NOT_ADD_UP.get((table.name, row.setup, column))
    if known is None:
        assert printed == pytest.approx(expected, abs=slack)
    else:
        assert known == (printed, pytest.approx(expected, abs=0.005))
        assert abs(printed - expected) > slack


def present(row, *columns):
    return all(row.values.get(column) is not None for column in columns)


def rows(holds):
    found = [(table, row) for table, row in ALL if holds(row)]
    names = [f"{table.name}-{row.label}-{row.setup}" for table, row in found]
    return pytest.mark.parametrize(("table", "row"), found, ids=names)


def changes(row):
    return [name for name in row.values if name.endswith(" change") and present(row, name)]


def mean(row, columns):
    return sum(row.values[column] for column in columns) / len(columns)


def four(table):
    return [name for name in BENCHMARKS if name in table.columns]


@rows(lambda row: present(row, "average"))
def test_averages_printed_in_the_paper_agree_with_its_rows_up_to_rounding(table, row):
    check(table, row, "average", mean(row, four(table)), EXACT)


@rows(lambda row: present(row, *LENGTHS))
def test_videomme_accuracy_in_the_paper_is_the_mean_over_short_medium_and_long_videos(table, row):
    """Each of the three groups has 900 questions, and every printed number is rounded."""
    check(table, row, "videomme", mean(row, LENGTHS), 2 * EXACT)


@rows(lambda row: present(row, "percent", "average"))
def test_relative_performance_in_the_paper_is_computed_from_printed_averages(table, row):
    share = 100 * row.values["average"] / table.full.values["average"]
    check(table, row, "percent", share, EXACT)


@rows(changes)
def test_changes_printed_in_the_paper_agree_with_the_printed_values(table, row):
    for column in changes(row):
        name = column.removesuffix(" change")
        value, full = row.values[name], table.full.values[name]
        if name == "items_per_s":
            check(table, row, column, value / full, 0.005)
        elif name == "videomme":
            check(table, row, column, value - full, 1e-9)
        else:
            check(table, row, column, 100 * (value / full - 1), EXACT)


def test_setup_has_the_same_numbers_in_every_paper_table_of_its_model():
    seen = {}
    for table, row in ALL:
        for column in (*BENCHMARKS, "videomme/short", "videomme/medium", "videomme/long"):
            if row.values.get(column) is not None and not table.name.startswith("efficiency"):
                key = table.models, row.setup, column
                assert seen.setdefault(key, row.values[column]) == row.values[column], key


@pytest.mark.parametrize("name", [*ABLATIONS, *PRESETS])
def test_every_preset_has_one_setup_per_row_of_its_paper_table(name):
    preset = (ABLATIONS | PRESETS)[name]
    keys = [setup.key for setup in preset.setups()]
    rows = [row.setup for row in tables()[name].rows]
    assert rows == (keys if name in PRESETS else keys[1:])


@pytest.mark.parametrize("name", tables())
def test_every_row_of_the_paper_tables_is_a_runnable_setup(name):
    rows = tables()[name].rows
    assert [setup.key for setup in setups_of(name)] == [row.setup for row in rows]


def test_compared_methods_on_llava_use_their_authors_settings():
    for name in ("llava-onevision-7b", "efficiency-llava-onevision"):
        methods = {setup.method.name: setup.method for setup in setups_of(name)}
        assert methods["fastvid"].variant == "llava_onevision"
    flash = methods["flashvid"]
    assert (flash.version, flash.min_segments, flash.inner) == ("v2", 8, True)
    assert setups_of("qwen3-vl-8b-32")[3].method == FastVID(0.25)


MODEL = "Qwen/Qwen3-VL-8B-Instruct"
FULL, KEPT = "full(retention_ratio=1.0)@32", "gleanvid(retention_ratio=0.25)@32"


def results(folder, benchmark, full, kept, model=MODEL, **groups):
    """Write result files like those of ``gleanvid eval`` for one benchmark."""
    folder.mkdir(parents=True)
    lines = []
    for setup, accuracy in ((FULL, full), (KEPT, kept)):
        line = {"setup": setup, "accuracy": accuracy, "questions": 40, "failed": 1}
        for name, share in groups.items():
            line |= {name: share, f"{name} questions": 10}
        # a run with two response modes has two results of a setup; the tables use the first
        lines += [line, line | {"accuracy": 0.0}]
    report = {"model": model, "benchmark": {"benchmark": benchmark}, "results": lines}
    (folder / "results.json").write_text(json.dumps(report))


@pytest.fixture
def measured(tmp_path):
    results(tmp_path / "a", "mvbench", 0.5, 0.4)
    results(tmp_path / "b", "longvideobench", 0.6, 0.6)
    results(tmp_path / "c", "mlvu", 0.7, 0.5)
    results(tmp_path / "d" / "deep", "videomme", 0.6, 0.6, short=0.9, long=0.25)
    return tmp_path


def test_measured_results_are_matched_to_paper_rows_by_model_and_setup(measured):
    table = tables()["qwen3-vl-8b-32"]
    values = ours(table, choose(table, found(measured)))
    mine = dict(zip([row.setup for row in table.rows], values, strict=True))
    assert mine[FULL]["average"] == pytest.approx(60)
    assert mine[KEPT]["average"] == pytest.approx(52.5)
    assert mine[KEPT]["percent"] == pytest.approx(87.5)
    assert mine[KEPT]["videomme/short"] == pytest.approx(90)
    assert mine[KEPT]["videomme/medium"] is None
    assert set(mine["vcast(retention_ratio=0.25)@32"].values()) == {None}


def found(folder):
    return read_results([folder])


@pytest.mark.parametrize(
    ("entry", "value"),
    [("setup", 5), ("accuracy", "x"), ("accuracy", [1]), ("questions", {}), ("short", "no")],
)
def test_invalid_results_file_is_refused_with_a_message(measured, entry, value):
    path = measured / "d" / "deep" / "results.json"
    report = json.loads(path.read_text())
    for line in report["results"]:
        line[entry] = value
    for content in (json.dumps(report), "[" * 100_000):
        path.write_text(content)
        with pytest.raises(ValueError, match="does not hold results of gleanvid"):
            found(measured)


def test_average_is_left_out_if_one_benchmark_is_missing(measured):
    (measured / "c" / "results.json").unlink()
    table = tables()["qwen3-vl-8b-32"]
    mine = ours(table, choose(table, found(measured)))
    assert mine[0]["mvbench"] == pytest.approx(50)
    assert mine[0]["average"] is None
    assert mine[0]["percent"] is None


def test_results_of_another_model_are_used_only_on_request(measured):
    table = tables()["llava-onevision-7b"]
    assert choose(table, found(measured)) is None
    assert choose(table, found(measured), MODEL) is not None


def test_printed_table_shows_paper_value_measured_value_and_difference(measured):
    table = tables()["qwen3-vl-8b-32"]
    shown = text(table, choose(table, found(measured)))
    assert "| GleanVID | 25% | 32 | 68.0 / 40.0 (-28.0) |" in shown
    assert "questions: 40 of mvbench" in shown
    assert "8 failed" in shown
    assert "68.0 /" not in text(table)
    heads, rule, *rows = [line for line in text(table).splitlines() if line.startswith("|")]
    assert {line.count("|") for line in (heads, rule, *rows)} == {heads.count("|")}


def test_measured_costs_are_compared_with_the_paper_as_relative_changes(tmp_path):
    relative = {"compress_and_prefill_s": 0.5, "generate_s": 0.6, "total_s": 0.75}
    relative |= {"peak_memory_mib": 0.9, "throughput": 1.3, "vision_s": 1.0}
    row = {"compressor": GleanVID().settings(), "num_frames": 32, "relative": relative}
    full = {"compressor": {"name": "full", "retention_ratio": 1.0}, "num_frames": 32}
    failed = {"compressor": {"name": "flashvid"}, "num_frames": 32, "error": "out of memory"}
    name = "qwen3-vl-8b (random weights)"
    report = {"machine": {}, "model": {"name": name}, "settings": {}, "rows": [full, row, failed]}
    path = tmp_path / "bench.json"
    path.write_text(json.dumps(report))
    for place in (tmp_path, path):
        table = tables()["efficiency"]
        shown = text(table, choose(table, found(place)))
        assert "132.6 | 165.7 |" in shown
        assert "-44.7 / -50.0 (-5.3)" in shown
        assert "1.32 / 1.30 (-0.02)" in shown


def test_phase_times_of_a_benchmark_run_fill_the_paper_s_efficiency_table(tmp_path):
    seconds = {
        "preprocess": 10.0,
        "vision": 70.0,
        "compress": 0.0,
        "prefill": 80.0,
        "generate": 40.0,
    }
    lines = []
    for setup, factor in ((FULL, 1.0), (KEPT, 0.5)):
        line = {"setup": setup, "compressor": setup.partition("(")[0], "accuracy": 0.6}
        line |= {"questions": 40, "failed": 0, "draws": 1, "peak_memory_mib": 1000.0 * factor}
        lines.append(line | {f"sum_{name}_s": factor * s for name, s in seconds.items()})
    report = {"model": MODEL, "benchmark": {"benchmark": "videomme"}, "results": lines}
    (tmp_path / "results.json").write_text(json.dumps(report))
    table = tables()["efficiency"]
    mine = dict(
        zip(
            [row.setup for row in table.rows],
            ours(table, choose(table, found(tmp_path))),
            strict=True,
        )
    )
    assert mine[FULL]["prefill_s"] == 80 and mine[FULL]["total_s"] == 200
    assert mine[FULL]["items_per_s"] == pytest.approx(0.2)
    assert mine[FULL]["peak_memory_mb"] == pytest.approx(1048.576)
    assert mine[KEPT]["prefill_s change"] == pytest.approx(-50)
    assert mine[KEPT]["items_per_s change"] == pytest.approx(2)
    lines[1]["failed"] = 2
    (tmp_path / "results.json").write_text(json.dumps(report))
    shown = text(table, choose(table, found(tmp_path)))
    assert "2 failed and count as wrong, and are not in the sums of seconds" in shown


@pytest.mark.parametrize(
    ("name", "tokens", "shape"),
    [
        ("efficiency", 11_500, (4096, 36, 12288, 32, 8)),
        ("efficiency-llava-onevision", 6_272, (3584, 28, 18944, 28, 4)),
    ],
)
def test_prefill_times_in_the_paper_are_too_short_for_one_gpu(name, tokens, shape):
    fields = ("hidden_size", "num_hidden_layers", "intermediate_size")
    fields += ("num_attention_heads", "num_key_value_heads")
    config = SimpleNamespace(**dict(zip(fields, shape, strict=True)))
    table = tables()[name]
    rate = 2 * prefill_flops(config, tokens) * 2700 / table.full.values["prefill_s"]
    assert rate == pytest.approx(2.7e15, rel=0.02)
    assert "2.7 PFLOP/s" in table.note and str(table.full.values["prefill_s"]) in table.note
    assert rate / 8 == pytest.approx(0.33e15, rel=0.03) and "0.33" in table.note
    assert table.note in text(table)


def test_tables_command_prints_every_table_of_the_paper(capsys):
    assert main(["tables"]) == 0
    shown = capsys.readouterr().out
    assert all(table.title in shown for table in tables().values())
    assert main(["tables", "--list"]) == 0
    assert capsys.readouterr().out.split()[:2] == ["1", "qwen3-vl-8b-64"]


def test_tables_command_prints_measured_results_next_to_the_paper_s(measured, capsys):
    assert main(["tables", "qwen3-vl-8b-32", "--results", str(measured), "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert report[0]["rows"][7]["ours"]["mvbench"] == pytest.approx(40)
    assert report[0]["rows"][7]["paper"]["mvbench"] == 68.0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["nonsense"], "must be one of qwen3-vl-8b-64"),
        (["--results", "{}/empty"], "holds no results of gleanvid eval"),
        (["--results", "{}/broken"], "does not hold results of gleanvid"),
        (["alpha", "--results", "{}/other"], "results are of builtin"),
    ],
)
def test_tables_command_refuses_results_without_a_matching_paper_row(
    arguments, message, tmp_path, capsys
):
    (tmp_path / "empty").mkdir()
    (tmp_path / "broken").mkdir()
    (tmp_path / "broken" / "results.json").write_text('{"results": 3}')
    results(tmp_path / "other", "mvbench", 0.5, 0.4, model="builtin")
    assert main(["tables", *(part.format(tmp_path) for part in arguments)]) == 2
    assert message in capsys.readouterr().err
