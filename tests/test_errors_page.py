"""The messages on the page of errors are those that transformers and GleanVID give."""

import inspect
import re
from pathlib import Path

import pytest
import torch
from transformers.models.qwen3_vl import processing_qwen3_vl, video_processing_qwen3_vl
from transformers.quantizers import quantizer_awq, quantizer_finegrained_fp8, quantizer_gptq

import gleanvid
from gleanvid import VideoTokens, errors, models, types
from gleanvid.compressors import method_from
from gleanvid.models.frames import frame_metadata
from gleanvid.models.hooks import installing, turns
from gleanvid.models.loading import options

ROOT = Path(__file__).parents[1]
PAGE = re.sub(r"\s+", " ", (ROOT / "docs" / "errors.md").read_text(encoding="utf-8"))
IDS = ("input_ids", "attention_mask", "mm_token_type_ids")


@pytest.fixture(scope="module")
def model():
    return gleanvid.load_model("builtin", device="cpu")


@pytest.fixture(scope="module")
def process(model):
    """A function that makes the inputs of one question about a clip of 8 frames."""
    video = gleanvid.read_video(ROOT / "assets/clips/glimpse_1.mp4", num_frames=8)
    content = [{"type": "video"}, {"type": "text", "text": "What moves?"}]
    text = model.processor.apply_chat_template([{"role": "user", "content": content}])
    usual = {"text": [text], "videos": [video.frames], "do_sample_frames": False}
    usual |= {"video_metadata": [frame_metadata(video)], "return_tensors": "pt"}
    return lambda **changes: model.processor(**usual | changes)


def compressed(model, inputs, **how):
    with gleanvid.compressing(model.hf_model, "gleanvid") as record:
        model.hf_model.generate(**inputs, max_new_tokens=1, **how)
    return record


def without_ids(model, process):
    inputs = process()
    del inputs["mm_token_type_ids"]
    model.hf_model(**inputs)


def cut(model, process):
    inputs = process()
    model.hf_model(**{**inputs, **{name: inputs[name][:, :60] for name in IDS}})


def too_early(model, process):
    with gleanvid.compressing(model.hf_model, "gleanvid") as record:
        return record.compression


RAISED = {  # part of a message on the page -> what raises it
    "mm_token_type_ids": without_ids,
    "Video features and video tokens do not match, tokens: 47, features: 400": cut,
    "token count between text and": lambda _, process: process(max_length=60, truncation=True),
    "tokens in the prompts should be the same as the number of videos passed": (
        lambda _, process: process(text=["What moves?"])
    ),
    "is out of bounds for axis 0 with size 8": lambda _, process: process(do_sample_frames=True),
    "are mutually exclusive arguments": (
        lambda _, process: process(do_sample_frames=True, fps=2, num_frames=4)
    ),
    "chunked prefill does not work with compression": (
        lambda model, process: compressed(model, process(), prefill_chunk_size=16)
    ),
    "prompt-lookup decoding does not work with compression": (
        lambda model, process: compressed(model, process(), prompt_lookup_num_tokens=2)
    ),
    "nothing was compressed: no prompt with a video was read yet": too_early,
    "retention_ratio=0.05 is out of reach": (
        lambda *_: method_from("dycoke(0.05)").compress(
            VideoTokens.from_grid(torch.rand(4, 2, 2, 8))
        )
    ),
    "retention_ratio has two values": lambda *_: method_from("gleanvid(0.2)", 0.1),
}


@pytest.mark.parametrize("message", RAISED)
def test_message_on_the_page_is_the_one_that_is_raised(message, model, process):
    assert message in PAGE
    with pytest.raises(Exception, match=re.escape(message)):
        RAISED[message](model, process)


WRITTEN = {  # part of a message that another test raises, or no CPU -> the module that has it
    "This model is already inside a compressing() block": installing,
    "this cache holds a compressed prompt, so positions would be wrong here": turns,
    "is not a transformers model": models,
    "frames in memory have no times of their own": types,
    "frames per second but no video metadata was provided": video_processing_qwen3_vl,
    "requires frame timestamps to construct prompts, but the": processing_qwen3_vl,
    "requires gptqmodel": quantizer_awq,
    "GPTQ quantized model requires optimum": quantizer_gptq,
    "Using FP8 quantized models requires a GPU or XPU": quantizer_finegrained_fp8,
    "needs a CUDA device and dtype bfloat16 or float16": options,
    "needs packages that are not installed": options,
    "The model ran out of memory": errors,
    "pixels came in, and nothing was compressed": installing,
}


@pytest.mark.parametrize("message", WRITTEN)
def test_message_on_the_page_stands_in_the_code_that_gives_it(message):
    code = re.sub(r'"\s+f?"', "", inspect.getsource(WRITTEN[message]))
    assert message in PAGE and message in code
