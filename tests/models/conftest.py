from __future__ import annotations

import pytest

from gleanvid.models import load_model
from tests.models import tiny, tiny_llava, tiny_more

FAMILIES = {
    "qwen3_vl": tiny.qwen3_vl,
    "qwen2_5_vl": tiny.qwen25_vl,
    "llava_onevision": tiny_llava.onevision,
    "llava_video": tiny_llava.video_average,
    "smolvlm": tiny_more.smolvlm,
    "internvl": tiny_more.internvl,
    "video_llama_3": tiny_more.video_llama3,
    "llava_next_video": tiny_llava.next_video,
    "perception_lm": tiny_llava.perception_lm,
}


@pytest.fixture(scope="session")
def adapters(tmp_path_factory):
    """family -> loaded tiny adapter, built once."""
    loaded = {}
    for family, build in FAMILIES.items():
        directory = tmp_path_factory.mktemp(family)
        build(directory)
        loaded[family] = load_model(directory, device="cpu")
    return loaded


@pytest.fixture(params=list(FAMILIES))
def adapter(request, adapters):
    return adapters[request.param]


@pytest.fixture(params=["qwen3_vl", "qwen2_5_vl"])
def qwen(request, adapters):
    return adapters[request.param]


@pytest.fixture
def qwen3(adapters):
    return adapters["qwen3_vl"]
