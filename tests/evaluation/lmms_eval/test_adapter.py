"""The model class for LMMs-Eval, on a fake model."""

from types import SimpleNamespace

import pytest
from PIL import Image

from gleanvid.types import VideoError
from tests.evaluation.fakes import FakeModel
from tests.video.clips import numbers, picture

pytest.importorskip("lmms_eval", reason="LMMs-Eval is not installed (extra: eval)")
ALONE = SimpleNamespace(process_index=0, num_processes=1, device="cpu")


@pytest.fixture
def module(monkeypatch):
    from gleanvid.evaluation.lmms_eval import adapter

    monkeypatch.setattr(adapter, "_accelerator", lambda: ALONE)
    return adapter


@pytest.fixture
def loaded(module, monkeypatch):
    """List to which the fake ``load_model`` appends its options at each call."""
    given = []

    def load_model(name, device, **options):
        given.append(options)
        return FakeModel()

    monkeypatch.setattr(module, "load_model", load_model)
    return given


def said(text):
    row = {"said": {"text": text}, "new_tokens": 1, "peak_memory_mib": 1.0}
    return row | dict.fromkeys(("prefill_s", "compress_s", "generate_s"), 0.1)


def test_lmms_eval_adapter_returns_errors_and_empty_texts_as_no_answer(module, loaded, monkeypatch):
    model = module.GleanVIDQwen3VL()
    rows = iter([said("B"), said(""), said(" \n"), {"error": "VideoError: gone"}])
    monkeypatch.setattr(model, "_row", lambda *_: next(rows))
    found = model.generate_until([SimpleNamespace(args=())] * 4)
    assert [answer.text for answer in found] == ["B", *["(no answer)"] * 3]


def test_folder_of_images_is_read_as_a_clip(module, loaded, tmp_path):
    for number in range(1, 31):
        Image.fromarray(picture(number)).save(tmp_path / f"{number:05d}.png")
    model = module.GleanVIDQwen3VL(num_frames=4)
    assert numbers(model._read(str(tmp_path), None).frames) == [1, 11, 20, 30]
    # a folder of images counts as a clip of 3 frames per second
    assert numbers(model._read(str(tmp_path), (2.0, 6.0)).frames) == [6, 10, 14, 18]
    down = module.GleanVIDLlavaOneVision(num_frames=4)
    assert numbers(down._read(str(tmp_path), None).frames) == [1, 10, 20, 30]
    with pytest.raises(VideoError, match="no images"):
        model._read(str(tmp_path), (90.0, 99.0))


def test_llava_video_uses_pooling_and_prompt_of_lmms_eval_s_own_model(module, loaded):
    own = {"spatial_pool_mode": "average", "time_instruction": False}
    model = module.GleanVIDLlavaVideo(max_pixels=9, dtype="float32")
    assert loaded[-1] == {"settings": own, "max_pixels": 9, "dtype": "float32"}
    assert model.settings["model_settings"] == own and model.setup.num_frames == 64
    module.GleanVIDLlavaVideo(spatial_pool_mode="bilinear", retention_ratio=0.5)
    assert loaded[-1]["settings"] == own | {"spatial_pool_mode": "bilinear"}
    module.GleanVIDQwen3VL()
    assert loaded[-1]["settings"] == {}


def test_error_names_the_unknown_lmms_eval_model_argument(module, loaded):
    with pytest.raises(ValueError, match="gleanvid has no setting retention"):
        module.GleanVIDQwen3VL(retention=0.5)
