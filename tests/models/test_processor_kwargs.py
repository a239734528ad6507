"""Inputs that a user's own processor makes: as many tokens as `ask` uses, with the true times."""

import warnings
from pathlib import Path

import numpy as np
import pytest

import gleanvid
from gleanvid.types import Video
from gleanvid.video import read_video
from tests.models.oracle import EveryNth
from tests.models.tiny import noise_video

# Sampled at 2 frames a second; as 24 a second, it would last a third of a second.
CLIP = noise_video(8)
# Families whose processors assume 24 frames a second and tell the model so.
TOLD = ["qwen3_vl", "qwen2_5_vl", "glm4v", "glm46v", "gemma4", "smolvlm", "qwen3_5"]
SILENT = ["qwen2_vl", "qwen3_omni", "llava_onevision", "internvl", "molmo2", "video_llama_3"]


def own_inputs(adapter, *without):
    """Return a prompt as a script makes it with its own model and processor."""
    options = gleanvid.processor_kwargs(adapter.hf_model, CLIP, processor=adapter.processor)
    for name in without:
        options.pop(name)
    made = adapter.processor(text=[adapter.chat_text(CLIP, "what?", ())], **options)
    return {name: made[name] for name in made if name not in adapter.unread}


def warnings_of(adapter, inputs):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        with gleanvid.compressing(adapter.hf_model, EveryNth(0.25)):
            adapter.hf_model(**inputs)
    return [str(one.message) for one in caught if "24 frames a second" in str(one.message)]


def test_own_inputs_have_the_tokens_of_ask(every_adapter):
    inputs = own_inputs(every_adapter)
    expected = every_adapter.prompt(every_adapter.encode(CLIP), "what?", ())
    assert inputs["input_ids"].tolist() == expected["input_ids"].tolist()


@pytest.mark.parametrize("every_adapter", TOLD, indirect=True)
def test_missing_metadata_is_warned_of_where_it_changes_what_the_model_is_told(every_adapter):
    assert not warnings_of(every_adapter, own_inputs(every_adapter))
    assert warnings_of(every_adapter, own_inputs(every_adapter, "video_metadata"))


@pytest.mark.parametrize("every_adapter", SILENT, indirect=True)
def test_no_warning_where_times_are_not_told_or_not_assumed(every_adapter):
    assert not warnings_of(every_adapter, own_inputs(every_adapter, "video_metadata"))


def test_processor_alone_makes_other_tokens_of_a_large_clip(qwen3):
    """The bound on a frame's pixels is one that transformers' processor has only if asked."""
    clip = Video.from_frames(np.zeros((4, 256, 256, 3), np.uint8), fps=2.0)
    options = gleanvid.processor_kwargs(qwen3, clip, max_pixels=4 * 64 * 64)
    plain = {
        name: options[name] for name in options if name not in ("size", "cap_pixels_per_frame")
    }
    text = [qwen3.chat_text(clip, "what?", ())]
    lengths = [
        qwen3.processor(text=text, **given)["input_ids"].shape[1] for given in (options, plain)
    ]
    assert lengths[0] < lengths[1]
    encoded = qwen3.encode(clip, max_pixels=4 * 64 * 64)
    assert lengths[0] == qwen3.prompt(encoded, "what?", ())["input_ids"].shape[1]


def test_model_without_its_processor_is_refused(qwen3):
    with pytest.raises(TypeError, match="pass processor=processor"):
        gleanvid.processor_kwargs(qwen3.hf_model, CLIP)


@pytest.mark.parametrize("every_adapter", TOLD[:1], indirect=True)
def test_file_is_read_as_ask_reads_it(every_adapter):
    file = Path(__file__).parents[2] / "assets/clips/glimpse_1.mp4"
    read = [gleanvid.processor_kwargs(every_adapter, clip) for clip in (file, read_video(file, 32))]
    assert np.array_equal(*(np.asarray(options["videos"][0]) for options in read))
