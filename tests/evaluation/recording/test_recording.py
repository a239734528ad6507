import json
import sys

import numpy as np
import pytest
import torch
from safetensors import safe_open
from safetensors.torch import save_file

import gleanvid
from gleanvid.cli import main
from gleanvid.compressors import COMPRESSORS
from gleanvid.evaluation.recording import recording
from gleanvid.evaluation.recording.file_format import KEY, SUFFIX, read_features, stored_features
from gleanvid.evaluation.recording.record import Wanted, record
from gleanvid.evaluation.recording.recorded_model import recorded_model
from gleanvid.evaluation.recording.recording import open_recording
from gleanvid.types import ModelError

CLIP, QUESTION = "assets/clips/glimpse_1.mp4", "What moves?"
METHODS = (gleanvid.FullTokens(), gleanvid.GleanVID(0.25), COMPRESSORS["visionzip"](0.25))


@pytest.fixture(scope="module")
def model():
    return gleanvid.load_model(device="cpu")


@pytest.fixture(scope="module")
def video():
    return gleanvid.read_video(CLIP, 4)


@pytest.fixture(scope="module")
def recorded(model, video, tmp_path_factory):
    path = tmp_path_factory.mktemp("recordings") / ("clip" + SUFFIX)
    wanted = Wanted((QUESTION,), METHODS, max_new_tokens=8, clip_licence="CC0-1.0", relevance=True)
    sizes = []
    changed = record(model, video, wanted, path, sizes.append)
    assert set(changed.values()) == {0.0}
    # sizes[0] counts the tensors; the rest of the file takes less than 1 MiB
    assert 0 < path.stat().st_size - sizes[0] < 2**20
    return path


def test_recording_gives_the_same_masks_without_the_model(recorded, model, video, monkeypatch):
    live = model.encode(video).tokens
    monkeypatch.setitem(sys.modules, "gleanvid.models.loading.load", None)
    tokens = open_recording(recorded).tokens
    for method in (gleanvid.GleanVID(0.25), gleanvid.GleanVID(0.1)):
        found, expected = method.compress(tokens), method.compress(live)
        assert torch.equal(found.keep, expected.keep)
        assert found.scores.keys() == expected.scores.keys()
        for name, score in expected.scores.items():  # the last bits vary with memory alignment
            torch.testing.assert_close(found.scores[name], score, rtol=1e-4, atol=1e-5)


def test_recording_contains_the_relevance_of_the_model_s_answer(recorded, model, video):
    (found,) = open_recording(recorded).relevance
    expected = gleanvid.relevance(video, QUESTION, model)
    torch.testing.assert_close(found.tokens, expected.tokens)
    assert (found.question, found.answer, found.grid) == (QUESTION, expected.answer, expected.grid)
    assert found.log_probability == pytest.approx(expected.log_probability)


def test_recording_holds_tokens_saliency_keys_frames_and_metadata(recorded, model, video):
    found, encoded = open_recording(recorded), model.encode(video, frozenset({"saliency", "keys"}))
    for name in ("features", "saliency", "keys", "seconds", "rectangles"):
        assert torch.equal(getattr(found.tokens, name), getattr(encoded.tokens, name)), name
    assert found.tokens.grid == encoded.tokens.grid
    assert len(repr(found)) <= 300 and len(repr(encoded)) <= 300
    # frames are stored as JPEG, which is lossy
    assert np.abs(found.video.frames.astype(int) - video.frames.astype(int)).mean() < 4
    assert np.array_equal(found.video.timestamps, video.timestamps)
    assert found.facts["licence"]["clip"] == "CC0-1.0"
    assert found.facts["model"]["model"] == "builtin" and found.facts["machine"]["versions"]


def test_recorded_answers_match_the_model(recorded, model, video):
    found = open_recording(recorded)
    assert [dict(run.compressor) for run in found.runs] == [one.settings() for one in METHODS]
    run = gleanvid.ask(video, QUESTION, model, METHODS[1], 8)
    kept = found.answered(QUESTION, METHODS[1].settings())
    assert kept.answer == run.answer and kept.video is found.video
    assert torch.equal(kept.compression.keep, run.compression.keep)
    assert kept.cost.prefill_s > 0 and found.log_probability[1] < 0
    assert found.answered("Anything else?", METHODS[1].settings()) is None
    assert found.answered(QUESTION, gleanvid.GleanVID(0.1).settings()) is None


def test_int8_recording_takes_half_the_bytes_of_bfloat16_and_stores_fraction_of_changed_tokens(
    model, video, tmp_path
):
    path, features = tmp_path / ("clip" + SUFFIX), model.encode(video).tokens.features
    changed = record(model, video, Wanted(methods=METHODS[1:2], features="int8"), path)
    kept = [set(METHODS[1].compress(t).keep.tolist()) for t in (
        model.encode(video).tokens, open_recording(path).tokens)]  # fmt: skip
    assert changed == {"gleanvid at 0.25": 1 - len(kept[0] & kept[1]) / len(kept[0])}
    assert open_recording(path).facts["features"] == {"stored": "int8", "changed": changed}
    eight, half = (stored_features(features, how) for how in ("int8", "bfloat16"))
    assert eight["features"].nbytes * 2 == half["features"].nbytes
    error = (read_features(eight, torch.float32) - features).norm() / features.std(0).norm()
    assert error < 0.02 * len(features) ** 0.5


def test_recorded_model_refuses_to_answer_with_a_reason(recorded):
    stand_in = recorded_model([recorded])
    video = open_recording(recorded).video
    assert stand_in.encode(video, frozenset({"saliency"})).tokens is video.tokens
    with pytest.raises(ModelError, match="its model is not loaded here"):
        stand_in.generate(None, QUESTION, None)
    with pytest.raises(ModelError, match="Only recorded clips"):
        stand_in.encode(gleanvid.Video.from_frames(np.zeros((2, 9, 9, 3), np.uint8), 1))


def test_videos_and_recordings_in_one_call_are_refused(recorded, tmp_path):
    with pytest.raises(ValueError, match="not both"):
        recorded_model([recorded, tmp_path / "clip.mp4"])
    assert recorded_model([tmp_path / "clip.mp4"]) is None


def test_commands_accept_a_recording_in_place_of_clip_and_model(
    recorded, model, video, tmp_path, capsys, monkeypatch
):
    def load_model(*_, **__):
        raise AssertionError("nobody may ask for the model")

    monkeypatch.setattr("gleanvid.models.loading.load.load_model", load_model)
    assert main(["compress", str(recorded), "--out", str(tmp_path / "kept")]) == 0
    arrays = np.load(tmp_path / "kept" / (recorded.name + ".npz"))
    live = gleanvid.GleanVID().compress(model.encode(video).tokens)
    assert arrays["keep"].tolist() == live.keep.tolist()
    capsys.readouterr()
    words = ["--recording", str(recorded), "--repeats", "1", "--json"]
    assert main(["bench", "compress", *words]) == 0
    assert json.loads(capsys.readouterr().out)["grid"] == list(live.grid)


def test_record_command_writes_tokens_masks_and_relevance(tmp_path, capsys):
    options = ["--question", QUESTION, "--frames", "4", "--max-new-tokens", "2", "--out"]
    more = ["--compressor", "gleanvid", "--relevance"]
    assert main(["record", CLIP, *options, str(tmp_path), *more]) == 0
    (path,) = tmp_path.iterdir()
    found, printed = open_recording(path), capsys.readouterr().out
    kept = found.relevance[0].kept(found.runs[0].compression)
    assert "gleanvid at 0.25: 0.00%" in printed
    assert f"GleanVID 25 %: {kept:.1%} of relevance kept ({QUESTION})" in printed
    assert found.facts["licence"]["weights"] == "Apache-2.0" and len(found.runs) == 1
    assert str(tmp_path) not in json.dumps(found.facts)


def write_edited_recording(path, folder, change):
    with safe_open(path, "pt") as file:
        tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
        facts = json.loads(file.metadata()[KEY])
    change(tensors, facts)
    made = folder / ("changed" + SUFFIX)
    save_file(tensors, made, metadata={KEY: json.dumps(facts)})
    return made


def _set(part, name, value):
    part[name] = value


FORGED = {
    "another version": lambda t, f: _set(f, "version", 2),
    "a wider grid": lambda t, f: _set(f, "grid", [4, 100, 5]),
    "no facts": lambda t, f: f.clear(),
    "NaN": lambda t, f: t["features"][3].fill_(torch.nan),
    "int8 without a scale": lambda t, f: _set(t, "features", t["features"].to(torch.int8)),
    "a row less": lambda t, f: _set(t, "saliency", t["saliency"][1:].clone()),
    "a tensor more": lambda t, f: _set(t, "more", torch.zeros(2)),
    "frames that end elsewhere": lambda t, f: t["frame_ends"].add_(5),
    "frames that are none": lambda t, f: t["frames"].zero_(),
    "huge frames": lambda t, f: _set(f["video"], "frame_size", [4000, 4000]),
    "a run with weights that are none": lambda t, f: t["run/1/0/weight"][0].fill_(torch.nan),
    "a run that keeps what is not there": lambda t, f: t["run/1/0/keep"].add_(10**6),
    "relevance with another sum": lambda t, f: t["relevance/0"].mul_(2),
    "a model without layers": lambda t, f: f["model"].pop("layers"),
    "a run without cost": lambda t, f: f["runs"][0].pop("cost"),
}  # fmt: skip


@pytest.mark.parametrize("change", FORGED.values(), ids=FORGED)
def test_forged_recording_is_refused(recorded, tmp_path, change):
    path = write_edited_recording(recorded, tmp_path, change)
    with pytest.raises(ValueError, match="not a recording") as error:
        open_recording(path)
    assert "KeyError" not in str(error.value)


@pytest.mark.parametrize("content", [b"", b"PK\3\4", b"\xff" * 64, b"\0" * 8])
def test_files_that_are_no_recording_are_refused(tmp_path, content):
    path = tmp_path / ("clip" + SUFFIX)
    path.write_bytes(content)
    with pytest.raises(ValueError, match="not a recording"):
        open_recording(path)
    with pytest.raises(ValueError, match="not a recording"):
        recorded_model([path])


def test_truncated_recording_is_refused(recorded, tmp_path):
    path = tmp_path / ("clip" + SUFFIX)
    path.write_bytes(recorded.read_bytes()[:-100])
    with pytest.raises(ValueError, match="not a recording"):
        open_recording(path)


def test_too_large_recording_is_refused_before_allocation(
    recorded, model, video, tmp_path, monkeypatch
):
    path = tmp_path / ("packed" + SUFFIX)
    record(model, video, Wanted(features="int8"), path)
    open_recording(path)

    def touched(*_):
        raise AssertionError("it was unpacked")

    monkeypatch.setattr(recording, "read_features", touched)
    monkeypatch.setattr(recording, "_decoded", touched)
    with monkeypatch.context() as patched:
        patched.setattr(recording, "MAX_FEATURE_BYTES", 10_000)
        with pytest.raises(ValueError, match="features take more than"):
            open_recording(path)
    with monkeypatch.context() as patched:
        patched.setattr(recording, "MAX_FRAME_BYTES", 10_000)
        with pytest.raises(ValueError, match="frames take more than"):
            open_recording(recorded)
    monkeypatch.setattr(recording, "MAX_WIDTH", 8)
    with pytest.raises(ValueError, match="of width"):
        open_recording(recorded)
