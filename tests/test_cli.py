"""The command line on a real file and a tiny random model."""

import json

import pytest

from gleanvid.cli import main, parse
from gleanvid.run import Run
from tests.models import tiny_qwen
from tests.video.clips import write_clip


@pytest.fixture(scope="module")
def clip(tmp_path_factory):
    return str(write_clip(tmp_path_factory.mktemp("clips") / "clip.mp4", num_frames=20))


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    directory = tmp_path_factory.mktemp("tiny")
    tiny_qwen.qwen3_vl(directory)
    return str(directory)


def call(*words):
    return main([*words, "--num-frames", "6", "--max-new-tokens", "4", "--device", "cpu"])


def test_ask_prints_the_answer_and_its_cost(clip, model, capsys):
    assert call("ask", clip, "What moves?", "--model", model, "--retention-ratio", "0.5") == 0
    out = capsys.readouterr().out
    assert "(50.0%)" in out
    for name in ("decode", "encode", "compress", "prefill", "generate", "peak memory", "FLOPs"):
        assert name in out


def test_ask_saves_pictures_and_a_run_that_loads(clip, model, tmp_path, capsys):
    folder = tmp_path / "run"
    assert call("ask", clip, "What?", "--model", model, "--json", "--save", str(folder)) == 0
    printed = json.loads(capsys.readouterr().out)
    run = Run.load(folder)
    assert run.answer == printed["answer"]
    assert printed["cost"]["visual_tokens_kept"] == sum(printed["budgets"])
    assert printed["cost"]["decode_s"] > 0
    units = run.compression.grid[0]
    assert len(list(folder.glob("unit_*.png"))) == units
    assert (folder / "overview.png").exists()


def test_options_are_the_compressors_own_settings(clip, model, capsys):
    words = ("ask", clip, "What?", "--model", model, "--json")
    assert call(*words, "--compressor", "gleanvid", "--history", "2", "--alpha-max", "0.9") == 0
    settings = json.loads(capsys.readouterr().out)["compressor"]
    assert settings["history"] == 2 and settings["alpha_max"] == 0.9
    assert call(*words, "--compressor", "random", "--seed", "7") == 0
    assert json.loads(capsys.readouterr().out)["compressor"]["seed"] == 7
    with pytest.raises(SystemExit):
        call(*words, "--compressor", "random", "--history", "2")


def test_compare_prints_one_line_a_method(clip, model, capsys):
    words = ("compare", clip, "What?", "--model", model, "--compressor", "full,gleanvid,uniform")
    assert call(*words, "--json") == 0
    rows = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [row["compressor"]["name"] for row in rows] == ["full", "gleanvid", "uniform"]
    kept = [row["cost"]["visual_tokens_kept"] for row in rows]
    assert kept[1] == kept[2] < kept[0]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--retention-ratio", "1.5"), "retention_ratio=1.5 must be in (0, 1]"),
        (("--alpha-min", "0.9"), "alpha_min=0.9"),
        (("--backend", "magic"), "backend"),
        (("--dtype", "int3"), "dtype"),
    ],
)
def test_bad_settings_are_one_sentence(clip, model, words, message, capsys):
    assert call("ask", clip, "What?", "--model", model, *words) == 2
    err = capsys.readouterr().err
    assert message in err and "Traceback" not in err


def test_bad_files_and_questions_are_one_sentence(model, clip, tmp_path, capsys):
    empty = tmp_path / "empty.mp4"
    empty.touch()
    for video, question in ((str(empty), "What?"), ("gone.mp4", "What?"), (clip, " ")):
        assert call("ask", video, question, "--model", model) == 2
        said = capsys.readouterr().err.splitlines()[-1]
        assert said.startswith("gleanvid: ") and len(said) > 20


@pytest.mark.parametrize(
    "words",
    [
        ("ask", "clip.mp4", "What?"),
        ("compare", "clip.mp4", "What?"),
        ("compress", "clips", "--out", "kept"),
        ("diagnose", "clips"),
        ("eval", "--benchmark", "videomme", "--out", "results"),
    ],
)
def test_frames_is_another_name_of_num_frames(words):
    for name in ("--frames", "--num-frames"):
        assert parse([*words, name, "7"]).num_frames == 7


def test_bench_compress_measures_what_it_lists(capsys):
    words = ("bench", "compress", "--grid", "4x4x4", "--width", "64", "--repeats", "1", "--json")
    assert main([*words, "--compressor", "gleanvid,uniform", "--device", "cpu"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert [row["compressor"] for row in report["rows"]] == ["X @ X.T", "gleanvid", "uniform"]
    assert all(row["median_s"] > 0 for row in report["rows"])
    assert {"device", "cpu", "cpu_cores", "threads", "versions"} <= set(report["machine"])
    assert main(["bench", "compress", "--grid", "4x4"]) == 2


def test_bench_memory_measures_every_number_of_frames_and_says_where(model, capsys):
    words = ("bench", "memory", "--frames", "2,4", "--model", model, "--device", "cpu")
    assert main([*words, "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert [row["frames"] for row in report["rows"]] == [2, 4]
    assert {"device", "cpu", "cpu_cores", "threads", "versions"} <= set(report["machine"])
    assert report["rows"][1]["visual_tokens"] == 2 * report["rows"][0]["visual_tokens"]
    assert main(list(words)) == 0
    assert f"torch {report['machine']['versions']['torch']}" in capsys.readouterr().out
