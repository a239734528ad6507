from __future__ import annotations

import json
from pathlib import Path

import pytest

import gleanvid
from gleanvid.cli import main
from gleanvid.models.loading.counting import grid_of, load_without_weights
from gleanvid.video import read_video
from gleanvid.video.decoders import pyav
from gleanvid.video.isolation import sandbox
from tests.models.conftest import EVERY
from tests.models.tiny import noise_video

CLIP = str(Path(__file__).parents[3] / "assets" / "clips" / "glimpse_1.mp4")


@pytest.mark.parametrize("family", EVERY)
@pytest.mark.parametrize("size", [(6, 64, 96), (5, 90, 70), (1, 64, 64)])
def test_token_grid_computed_without_weights_equals_that_of_encode(family, size, adapters):
    model, video = adapters[family], noise_video(*size)
    expected = model.encode(video).tokens.grid
    assert grid_of(load_without_weights(model.name), video) == grid_of(model, video) == expected


@pytest.mark.parametrize("model", ["builtin", "mobilenet_v2"])
def test_tokens_of_a_file_are_counted_without_decoding(model, monkeypatch):
    encoded = gleanvid.load_model(model, "cpu").encode(read_video(CLIP, 3))
    monkeypatch.setattr(sandbox, "decode", lambda *_: None)
    monkeypatch.setattr(pyav, "_picture", None)  # fails if a frame is decoded
    found = gleanvid.count_tokens(CLIP, model, "vidcom2(0.1)", frames=gleanvid.Frames(3))
    assert found.grid == encoded.tokens.grid and found.tokens == len(encoded.tokens)
    assert (
        found.kept
        == gleanvid.compressors.from_settings({"name": "vidcom2", "retention_ratio": 0.1})
        .compress(encoded.tokens)
        .num_kept
    )


def test_count_command_counts_the_tokens_of_a_file_or_of_a_frame_size(capsys):
    words = ["--num-frames", "16", "--retention-ratio", "0.5"]
    assert main(["count", CLIP, *words]) == main(["count", "320x320", *words]) == 0
    told = capsys.readouterr().out.splitlines()
    assert told[0] == told[1] == "800 visual tokens: 8 units of 10 x 10; GleanVID keeps 400"
    assert main(["count", "640x320", *words, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["grid"] == [8, 7, 14]


@pytest.mark.parametrize("size", [(0, 4, 4), (2, 4), (1.0, 4, 4)])
def test_clip_size_with_other_than_positive_whole_numbers_is_refused(size):
    with pytest.raises(ValueError, match=r"\(frames, height, width\)"):
        gleanvid.count_tokens(size)
