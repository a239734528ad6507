"""Between question and first token, the hooks' work grows neither with tokens nor with layers."""

from __future__ import annotations

import pytest

from tests.models.work import AHEAD, COUNTED, INSIDE, by_stage, fewer_layers, work

HOOKS = ("hooks before", "hooks inside")


@pytest.fixture(params=["qwen3_vl", "qwen2_5_vl", "llava_onevision", "smolvlm"])
def model(request, adapters):
    return adapters[request.param]


def test_no_hook_s_work_grows_with_the_tokens(model):
    few, many = by_stage(model, 8, True), by_stage(model, 16, True)
    for hooks in HOOKS:
        assert few[hooks] == many[hooks]
    assert few["hooks before"][1] <= 16  # device-to-host syncs
    assert few["hooks inside"][1] <= 24


@pytest.mark.parametrize("method", [AHEAD, INSIDE], ids=["ahead", "inside"])
def test_no_hook_s_work_grows_with_the_layers(model, method, monkeypatch):
    from tests.models.tiny import noise_video

    encoded, beyond = model.encode(noise_video(8)), []
    for layers in (4, 5):
        with fewer_layers(model, layers):
            plain = work(model, encoded, None)
            ours = work(model, encoded, method)
        beyond.append(
            dict(zip(COUNTED, (a - b for a, b in zip(ours, plain, strict=True)), strict=True))
        )
    assert beyond[0] == beyond[1]
