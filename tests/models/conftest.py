from __future__ import annotations

import pytest

from gleanvid.models import load_model
from tests.models import tiny_frames, tiny_llava, tiny_qwen

FAMILIES = {
    "qwen3_vl": tiny_qwen.qwen3_vl,
    "qwen3_vl_moe": tiny_qwen.qwen3_vl_moe,
    "qwen2_5_vl": tiny_qwen.qwen25_vl,
    "llava_onevision": tiny_llava.onevision,
    "llava_video": tiny_llava.video_average,
    "llava_video_bilinear": tiny_llava.video_bilinear,
    "smolvlm": tiny_frames.smolvlm,
    "internvl": tiny_frames.internvl,
    "video_llama_3": tiny_frames.video_llama3,
    "llava_next_video": tiny_llava.next_video,
    "perception_lm": tiny_llava.perception_lm,
}
RECURRENT = {  # no oracle by masks and nothing inside the model
    "qwen3_5": tiny_qwen.qwen35,
    "qwen3_5_moe": tiny_qwen.qwen35_moe,
}


@pytest.fixture(scope="session")
def adapters(tmp_path_factory):
    """family -> loaded tiny adapter, built once."""
    loaded = {}
    for family, build in (FAMILIES | RECURRENT).items():
        directory = tmp_path_factory.mktemp(family)
        build(directory)
        loaded[family] = load_model(directory, device="cpu")
    return loaded


@pytest.fixture(params=list(FAMILIES))
def adapter(request, adapters):
    return adapters[request.param]


@pytest.fixture(params=[*FAMILIES, *RECURRENT])
def every_adapter(request, adapters):
    return adapters[request.param]


@pytest.fixture(params=["qwen3_vl", "qwen2_5_vl"])
def qwen(request, adapters):
    return adapters[request.param]


@pytest.fixture
def qwen3(adapters):
    return adapters["qwen3_vl"]
