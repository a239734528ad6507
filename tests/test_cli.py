"""The command line on a real file and a tiny random model."""

import json
import sys

import numpy as np
import pytest
from PIL import Image

import components
from gleanvid import models
from gleanvid.cli import main
from gleanvid.run import Run
from gleanvid.types import ModelError
from tests.video.clips import write_clip


@pytest.fixture(scope="module")
def clip(tmp_path_factory):
    return str(write_clip(tmp_path_factory.mktemp("clips") / "clip.mp4", num_frames=20))


@pytest.fixture
def model(model_folder):
    return model_folder


def call(*words):
    return main([*words, "--num-frames", "6", "--max-new-tokens", "4", "--device", "cpu"])


def test_ask_command_prints_answer_and_cost(clip, model, capsys):
    assert call("ask", clip, "What moves?", "--model", model, "--retention-ratio", "0.5") == 0
    out = capsys.readouterr().out
    assert "(50.0%)" in out
    for name in ("decode", "encode", "compress", "prefill", "generate", "MAC"):
        assert name in out
    # on the CPU, memory is measured for the whole process, so it is not printed
    assert "peak memory" not in out


@pytest.mark.parametrize("command", ["ask", "compare", "least", "relevance"])
def test_empty_question_is_refused_before_a_model_is_loaded(
    command, clip, tmp_path, monkeypatch, capsys
):
    monkeypatch.setattr(
        "gleanvid.cli.model_options.load", lambda options: pytest.fail("it was loaded")
    )
    out = ["--out", str(tmp_path / "out")] if command == "relevance" else []
    assert main([command, clip, "  ", *out]) == 2
    assert capsys.readouterr().err == "gleanvid: question must not be empty\n"


def test_compare_command_fails_only_if_every_method_fails(clip, model, capsys):
    words = ["compare", clip, "What moves?", "--model", model, "--max-new-tokens", "2"]
    words += ["--retention-ratio", "0.05", "--compressor"]
    assert main([*words, "dycoke"]) == 1
    assert "out of reach" in capsys.readouterr().out
    assert main([*words, "dycoke,uniform"]) == 0


def test_ask_command_saves_images_and_a_run_that_can_be_loaded(clip, model, tmp_path, capsys):
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


def test_sampling_options_of_commands_reach_the_model(clip, model, capsys):
    words = ("ask", clip, "What?", "--model", model, "--json", "--compressor", "vidcom2")
    drawn = ("--sampling-temperature", "2", "--sampling-top-p", "0.9", "--sampling-seed")
    runs = []
    for seed in ("7", "7", "8"):
        assert call(*words, *drawn, seed) == 0
        runs.append(json.loads(capsys.readouterr().out))
    first, again, other = (run["answer"] for run in runs)
    assert first == again != other
    made = runs[0]["made_with"]
    assert (made["temperature"], made["top_p"], made["seed"]) == (2.0, 0.9, 7)
    # the compressor's own "temperature" is not changed by --sampling-temperature
    assert runs[0]["compressor"]["temperature"] == 0.01


def test_compare_command_prints_one_line_per_method_and_draws_the_paper_s_figures(
    clip, model, capsys, tmp_path
):
    words = ("compare", clip, "What?", "--model", model, "--compressor", "full,gleanvid,uniform")
    assert call(*words, "--json", "--relevance", "--figures", str(tmp_path)) == 0
    figures = [f"{name}.{end}" for name in ("budgets", "overlays") for end in ("pdf", "png")]
    assert sorted(path.name for path in tmp_path.iterdir()) == figures
    rows = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [row["compressor"]["name"] for row in rows] == ["full", "gleanvid", "uniform"]
    kept = [row["cost"]["visual_tokens_kept"] for row in rows]
    assert kept[1] == kept[2] < kept[0]
    shares = [row["relevance"]["kept"] for row in rows]
    assert shares[0] == pytest.approx(1) and 0 < shares[1] <= rows[1]["relevance"]["best"] < 1


LOADED = [  # command-line options -> arguments of load_model
    ("--device cuda:1", {"device": "cuda:1"}),
    ("--dtype bfloat16", {"dtype": "bfloat16"}),
    ("--attn-implementation eager", {"attn_implementation": "eager"}),
    ("--device-map auto", {"device_map": "auto"}),
    ("--quantization 4bit", {"quantization": "4bit"}),
    ("--max-pixels 9999", {"max_pixels": 9999}),
    (
        "--model-setting newline_policy=all --model-setting time_instruction=false",
        {"settings": {"newline_policy": "all", "time_instruction": False}},
    ),
]
COMMANDS = ["ask CLIP What?", "compare CLIP What?", "bench model --frames 2 --frame-size 64x64"]


@pytest.mark.parametrize("command", COMMANDS)
def test_loading_options_of_commands_reach_load_model(command, clip, tmp_path, monkeypatch, capsys):
    seen, words = [], " ".join(words for words, _ in LOADED)
    expected = {name: value for _, given in LOADED for name, value in given.items()}

    def load_model(name, **given):
        seen.append((name, {key: value for key, value in given.items() if value}))
        raise ModelError("that is all")

    monkeypatch.setattr(models, "load_model", load_model)
    command = command.replace("CLIP", clip).replace("OUT", str(tmp_path))
    assert main([*command.split(), "--model", "a/b", *words.split()]) == 2
    assert seen == [("a/b", expected)]
    assert "that is all" in capsys.readouterr().err


def test_relevance_command_writes_heat_maps_and_the_fraction_of_relevance_kept(
    clip, model, tmp_path, capsys
):
    words = (clip, "What moves?", "--model", model, "--retention-ratio", "0.5", "--words")
    assert call("relevance", *words, "--answer", "a red", "--out", str(tmp_path / "out")) == 0
    assert "not what is true" in capsys.readouterr().out
    facts = json.loads((tmp_path / "out" / "relevance.json").read_text())
    arrays = np.load(tmp_path / "out" / "relevance.npz")
    assert arrays["tokens"].sum() == pytest.approx(1) and facts["answer"] == "a red"
    assert facts["words"] == ["a", "red"] and {"word_000", "word_001"} <= set(arrays)
    kept = facts["compression"]
    assert 0 < kept["kept"] <= kept["best"] <= 1 and kept["random"] == pytest.approx(0.5, abs=0.03)
    units = sorted((tmp_path / "out").glob("unit_*.png"))
    assert len(units) == facts["grid"][0]
    assert np.asarray(Image.open(units[0])).any() and (tmp_path / "out" / "overview.png").exists()
    assert call("relevance", *words, "--by", "magic", "--out", str(tmp_path / "out")) == 2
    assert "by='magic' must be one of" in capsys.readouterr().err


def test_compare_command_writes_its_runs_as_one_web_page(clip, model, tmp_path, monkeypatch):
    # the command imports the app under its installed name
    monkeypatch.setitem(sys.modules, "gleanvid_app", components)
    file = tmp_path / "runs.html"
    words = ("--compressor", "full,uniform,gleanvid", "--html", str(file))
    assert call("compare", clip, "What moves?", "--model", model, *words) == 0
    shown = json.loads(file.read_text("utf-8").split('id="gv-run">')[1].split("</script>")[0])
    assert [shown["value"]["methods"][shown["value"][side]]["name"] for side in "ab"] == [
        "full",
        "uniform",
    ]
    assert len(shown["answers"]) == 3 and shown["value"]["novelty"]
