import json

import pytest
import torch

from gleanvid.cli import main
from gleanvid.compressors import COMPRESSORS
from gleanvid.cost import prefill_flops
from gleanvid.evaluation.bench import bench_model
from gleanvid.evaluation.bench.bench_model_table import table
from gleanvid.models.loading.random_weights import random_model
from tests.models.small import SMALL
from tests.models.tiny import noise_video

CONFIG = ["--config", "qwen3-vl-8b", "--random-weights"]
METHODS = ("gleanvid", "vidcom2", "visionzip", "dycoke")


@pytest.fixture(scope="module")
def measured():
    torch.set_num_threads(1)
    model = random_model("qwen3-vl-8b", "cpu", changes=SMALL["qwen3-vl-8b"])
    methods = [COMPRESSORS[name](0.1) for name in METHODS]
    videos = [noise_video(4, 96, 160)]
    (report,) = bench_model.measure(model, videos, methods, new_tokens=3, repeats=3, warmup=1)
    return model, report


def row_of(report, name):
    return next(row for row in report["rows"] if row["compressor"]["name"] == name)


def test_bench_model_lists_the_all_tokens_baseline_first_and_fills_every_row(measured):
    model, report = measured
    assert [row["compressor"]["name"] for row in report["rows"]] == ["full", *METHODS]
    full = report["rows"][0]
    assert set(full["relative"].values()) == {1.0}
    for name in ("gleanvid", "vidcom2", "visionzip"):
        row = row_of(report, name)
        for part in ("preprocess_s", "vision_s", "compress_s", "prefill_s", "generate_s"):
            assert row[part] > 0 and len(row["samples"][part]) == 3
        assert row["new_tokens"] == 3
        assert row["prompt_tokens_kept"] < full["prompt_tokens_kept"] == row["prompt_tokens"]
        assert row["throughput"] == pytest.approx(1 / row["total_s"])
    # the timing wrappers are removed from the model
    assert model.build_inputs.__func__ is type(model).build_inputs


def test_measured_phases_of_one_question_sum_to_its_total_time(measured):
    model, _ = measured
    method = COMPRESSORS["gleanvid"](0.25)
    item, _ = bench_model.measure_item(model, noise_video(4, 96, 160), method, "what?", 2)
    parts = item.preprocess_s + item.vision_s + item.compress_s + item.prefill_s + item.generate_s
    assert item.total_s == pytest.approx(parts)
    assert item.first_token_s == pytest.approx(item.vision_s + item.compress_s + item.prefill_s)
    assert item.peak_memory_mib >= item.peak_llm_memory_mib > 0


def test_bench_model_row_contains_medians_and_their_ratios_to_the_all_tokens_row(measured):
    model, report = measured
    full, row = report["rows"][0], row_of(report, "gleanvid")
    for name, seconds in row["samples"].items():
        assert row[name] == sorted(seconds)[1]
    for name in ("vision_s", "prefill_s", "total_s", "peak_memory_mib", "throughput"):
        assert row["relative"][name] == pytest.approx(row[name] / full[name])
    first = (row["compress_s"] + row["prefill_s"]) / (full["compress_s"] + full["prefill_s"])
    assert row["relative"]["compress_and_prefill_s"] == pytest.approx(first)
    text, config = full["prompt_tokens"] - full["visual_tokens"], model.text_config
    work = [prefill_flops(config, text + one["visual_tokens_kept"]) for one in (row, full)]
    assert row["relative"]["prefill_flops"] == pytest.approx(work[0] / work[1])
    assert f" ({work[0] / work[1] - 1:+.1%})" in table({**report, "rows": [row]})


def test_compressor_that_cannot_reach_the_ratio_has_a_row_with_the_reason(measured):
    _, report = measured
    row = row_of(report, "dycoke")
    assert "out of reach" in row["error"] and "total_s" not in row
    assert not bench_model.failed(row)
    assert "out of reach" in table(report)


def test_bench_model_writes_report_and_table(tmp_path, capsys):
    asked = "--frames 2 --frame-size 64x64 --compressor gleanvid,uniform --repeats 1 --warmup 0"
    given = ["bench", "model", *asked.split(), "--new-tokens", "2", "--device", "cpu"]
    assert main([*given, "--out", str(tmp_path)]) == 0
    report = json.loads((tmp_path / "model_builtin.json").read_text())
    assert [row["compressor"]["name"] for row in report["rows"]] == ["full", "gleanvid", "uniform"]
    assert (tmp_path / "model_builtin.md").read_text().strip() == capsys.readouterr().out.strip()


ASKED = "--frames 2,4 --frame-size 64x64 --repeats 1 --warmup 0 --new-tokens 1 --device cpu"


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--config", "qwen3-vl-8b"], "--random-weights"),
        (["--random-weights"], "--config"),
        (["--config", "none", "--random-weights"], "config='none'"),
        ([*CONFIG, "--quantization", "4bit"], "--quantization does not go with --config"),
        ([*CONFIG, "--model", "a/b"], "--model does not go with --config"),
        (["--frames", "0"], "at least 1"),
        (["--frame-size", "9"], "frame_size='9'"),
        (["--out", __file__], "cannot write to"),
    ],
)
def test_invalid_bench_model_options_exit_2_with_an_error_message(options, said, capsys):
    assert main(["bench", "model", *ASKED.split(), *options]) == 2
    assert said in capsys.readouterr().err
