"""GleanVID's hooks run as many operations for many tokens or layers as for few."""

from __future__ import annotations

import pytest

from tests.models.work import AHEAD, COUNTED, INSIDE, by_stage, fewer_layers, work

HOOKS = ("hooks before", "hooks inside")


@pytest.fixture(params=["qwen3_vl", "qwen2_5_vl", "llava_onevision", "smolvlm"])
def model(request, adapters):
    return adapters[request.param]


def test_number_of_hook_operations_does_not_grow_with_the_number_of_tokens(model):
    few, many = by_stage(model, 8, True), by_stage(model, 16, True)
    for hooks in HOOKS:
        assert few[hooks] == many[hooks]
    assert few["hooks before"][1] <= 16  # number of device-to-host syncs
    assert few["hooks inside"][1] <= 24


@pytest.mark.parametrize("method", [AHEAD, INSIDE], ids=["ahead", "inside"])
def test_operations_added_by_compression_do_not_grow_with_the_layers(model, method, monkeypatch):
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
