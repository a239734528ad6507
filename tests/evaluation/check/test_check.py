import json
import re

import pytest

from gleanvid.cli import main
from gleanvid.evaluation.check.check import check
from gleanvid.evaluation.check.laws import LAWS, Finding
from gleanvid.models import load_model
from gleanvid.models.generation.prefix import Prefix
from gleanvid.models.hooks import installing as hooks
from gleanvid.models.hooks import shortening
from gleanvid.models.hooks.decoding import Prefilled
from tests.models import tiny_qwen
from tests.models.tiny import noise_video

VIDEO = noise_video(8)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    directory = tmp_path_factory.mktemp("a-person's-name")
    tiny_qwen.qwen3_vl(directory)
    return directory


@pytest.fixture(scope="module")
def model(folder):
    return load_model(str(folder), device="cpu")


def test_check_passes_for_an_intact_model_and_fails_for_wrong_positions(model):
    report = check(model, VIDEO)
    assert not report.failed
    found = report.findings
    assert found["keep_all"].figure == found["keep_all"].bound == 0
    assert found["prefill"].control > 100 * found["prefill"].bound


def shifted(change):
    """Return a faulty ``shortened``: entries from ``change`` replace the right ones it returns."""
    whole = shortening.shortened

    def faulty(*args):
        made = whole(*args)
        return made | change(made)

    return faulty


def wrong_position(made):
    moved = made["position_ids"].clone()
    moved[..., 10] += 1  # shift the position of one token
    return {"position_ids": moved}


def other_rows(made):
    return {"inputs_embeds": made["inputs_embeds"].roll(1, 1)}


def other_levels(made):
    return {"deepstack_visual_embeds": [one.roll(1, 0) for one in made["deepstack_visual_embeds"]]}


@pytest.mark.parametrize(
    ("change", "name"),
    [
        (wrong_position, "position_ids"),
        (other_rows, "inputs_embeds"),
        (lambda made: {"deepstack_visual_embeds": None}, "DeepStack level 0"),
        (other_levels, "DeepStack level 0"),
    ],
    ids=["position", "rows", "no deep levels", "other deep levels"],
)
def test_check_names_which_part_of_the_shortened_prompt_is_wrong(model, monkeypatch, change, name):
    monkeypatch.setattr(shortening, "shortened", shifted(change))
    report = check(model, VIDEO)
    assert {"inputs", "prefill"} <= set(report.failed)
    assert report.findings["inputs"].note.split(", ")[0] == name


def test_check_fails_if_decoding_continues_at_a_wrong_position(model, monkeypatch):
    right = Prefilled.positions_from
    monkeypatch.setattr(Prefilled, "positions_from", lambda *args: right(*args) + 1)
    failed = check(model, VIDEO).failed
    assert {"inputs", "decode"} <= set(failed) and "prefill" not in failed


def test_check_fails_if_a_stale_cache_is_reused(model, monkeypatch):
    monkeypatch.setattr(Prefix, "fork", lambda self: self.cache)
    assert check(model, VIDEO).failed == ("cache",)


def test_check_fails_if_a_hook_is_left_on_the_model(model, monkeypatch):
    left = []

    def staying(hf_model, layout, compressor, signals=None):
        left.append(hf_model.register_forward_pre_hook(lambda module, args: None))
        return hooks.compressing(hf_model, layout, compressor, signals)

    monkeypatch.setattr("gleanvid.models.hooks.compressing", staying)
    failed = check(model, VIDEO).failed
    for handle in left:
        handle.remove()
    assert failed == ("hooks",)


def test_check_report_of_a_failed_compression_contains_no_file_paths(model, monkeypatch):
    def broken(*args):
        raise RuntimeError("cannot read /home/somebody/weights.bin: gone")

    monkeypatch.setattr(shortening, "shortened", broken)
    report = check(model, VIDEO)
    assert {"inputs", "prefill", "decode", "cache"} <= set(report.failed)
    assert "somebody" not in report.text() + json.dumps(report.as_dict())


def test_check_command_writes_a_report_without_user_names(folder, tmp_path, capsys):
    clip = "assets/clips/glimpse_1.mp4"
    options = ["--model", str(folder), "--device", "cpu", "--frames", "4", "--out", str(tmp_path)]
    assert main(["check", clip, "--dtype", "bfloat16", *options]) == 0
    text = (tmp_path / "check.md").read_text()
    assert text.strip() == capsys.readouterr().out.strip()
    found = json.loads((tmp_path / "check.json").read_text())
    assert found["passed"] and len(found["findings"]) == len(LAWS)
    assert found["model"]["dtype"] == "bfloat16" and "transformers" in found["machine"]["versions"]
    for written in (text, json.dumps(found)):
        assert "person" not in written and "glimpse" not in written
        assert not re.search(r"(?<!\w)/\w+/", written)


def test_check_command_exits_1_if_a_check_fails(folder, monkeypatch, capsys):
    monkeypatch.setattr(shortening, "shortened", shifted(wrong_position))
    options = ["--model", str(folder), "--device", "cpu", "--frames", "4", "--json"]
    assert main(["check", *options]) == 1
    assert not json.loads(capsys.readouterr().out)["passed"]


def test_check_fails_for_a_nan_measurement():
    assert not Finding(float("nan"), 1.0, "").passed
