"""Prompts with images, with several videos, or with both: images are left alone, videos are apart.

The prompts are those of transformers' own processors.
"""

import pytest
import torch
from PIL import Image

from gleanvid.compressors.visionzip import VisionZip
from gleanvid.models import compressing
from gleanvid.models.families.announced import FrameReader
from gleanvid.models.frames import frame_metadata
from gleanvid.types import ModelError
from tests.models.oracle import EveryNth, generate, masked_logits, read_while_decoding
from tests.models.tiny import noise_video, tiny_tokenizer

QUARTER = EveryNth(0.25)
VIDEOS = [noise_video(4), noise_video(4, seed=1)]
MARKED = "<|vision_start|><|image_pad|><|vision_end|>"
# The processor of SmolVLM loses images next to a video; GLM-4V's model does, too.
BOTH = ["qwen3_vl", "qwen2_5_vl", "internvl", "gemma4", "video_llama_3", "perception_lm"]


def asked(adapter, *kinds):
    """Return the processor's tensors for a prompt of images and videos, then a question."""
    processor = adapter.processor
    own = {"qwen3_vl": MARKED, "qwen2_5_vl": MARKED, "video_llama_3": "<|image_pad|>"}
    image = own.get(adapter.hf_model.config.model_type) or processor.image_token
    text = " and ".join(image if kind == "image" else processor.video_token for kind in kinds)
    videos = VIDEOS[: kinds.count("video")]
    images = [Image.fromarray(VIDEOS[1].frames[0])] * kinds.count("image")
    nested = adapter.hf_model.config.model_type == "smolvlm"
    options = {}
    if images:
        options["images"] = [images] if nested else images
    if videos:
        options["videos"] = [video.frames for video in videos]
        options["video_metadata"] = [frame_metadata(video) for video in videos]
        options["do_sample_frames"] = False
    if adapter.hf_model.config.model_type == "minicpmv4_6":
        options["max_slice_nums"] = 1
    made = processor(text=[text + "what moves?"], return_tensors="pt", **options)
    unread = ("video_metadata", "rows", "cols", "num_soft_tokens_per_video")
    return {name: made[name] for name in made if name not in unread}


def kept_of(adapter, inputs, records):
    """Return bool [1, L]: the prompt's tokens left, from the records of its videos."""
    kept = inputs["attention_mask"].bool().clone()
    columns = torch.nonzero(adapter.layout.visual_columns(inputs["input_ids"], None)[0])[:, 0]
    kept[0, columns] = torch.cat([record.mask for record in records])
    return kept


@pytest.mark.parametrize("kinds", [("image", "video"), ("video", "image"), ("video", "video")])
@pytest.mark.parametrize("adapter", BOTH, indirect=True)
def test_images_stay_and_every_video_has_a_budget_of_its_own(adapter, kinds):
    inputs = asked(adapter, *kinds)
    alone = asked(adapter, "video")
    with compressing(adapter.hf_model, QUARTER) as record:
        adapter.hf_model(**alone)
        single = record.compression
        output = generate(adapter, inputs)
        (records,) = record.compressions
    assert [r.grid for r in records] == [single.grid] * kinds.count("video")
    assert all(torch.equal(r.keep, single.keep) for r in records)
    kept = kept_of(adapter, inputs, records)
    steps = read_while_decoding(output, inputs)
    _, expected = masked_logits(adapter.hf_model, inputs, kept, steps)
    torch.testing.assert_close(torch.stack(output.logits, 1), expected, atol=1e-5, rtol=0)


@pytest.mark.parametrize("adapter", ["smolvlm", "minicpmv"], indirect=True)
def test_videos_of_families_without_images_beside_them_have_budgets_of_their_own(adapter):
    with compressing(adapter.hf_model, QUARTER) as record:
        adapter.hf_model(**asked(adapter, "video"))
        grid = record.compression.grid
        inputs = asked(adapter, "video", "video")
        adapter.hf_model.generate(inputs.pop("input_ids"), **inputs, max_new_tokens=2)
    assert [r.grid for r in record.compressions[0]] == [grid, grid]


@pytest.mark.parametrize("adapter", [*BOTH, "smolvlm", "glm4v"], indirect=True)
def test_prompt_of_images_alone_is_left_as_it_is(adapter):
    inputs = asked(adapter, "image", "image")
    plain = generate(adapter, inputs).logits
    with compressing(adapter.hf_model, QUARTER, strict=False):
        same = generate(adapter, inputs).logits
    assert all(torch.equal(a, b) for a, b in zip(plain, same, strict=True))
    nothing = pytest.raises(ModelError, match="nothing was compressed")
    with nothing, compressing(adapter.hf_model, QUARTER):
        generate(adapter, inputs)


@pytest.mark.parametrize("adapter", ["qwen3_vl", "internvl"], indirect=True)
def test_saliency_is_that_of_the_video_whatever_images_came_before(adapter):
    method = VisionZip(0.25)
    with compressing(adapter.hf_model, method) as record:
        adapter.hf_model(**asked(adapter, "video"))
        expected = record.compression.keep
        adapter.hf_model(**asked(adapter, "image"))
        adapter.hf_model(**asked(adapter, "image", "video", "image"))
    assert torch.equal(record.compression.keep, expected)


@pytest.mark.parametrize("adapter", ["minicpmv"], indirect=True)
def test_frames_cut_into_slices_are_refused(adapter):
    video = noise_video(2, 200, 300)
    made = adapter.processor(
        text=[adapter.processor.video_token + "?"],
        videos=[video.frames],
        video_metadata=[frame_metadata(video)],
        do_sample_frames=False,
        return_tensors="pt",
    )
    inputs = {name: made[name] for name in made if name != "video_metadata"}
    refused = pytest.raises(ModelError, match="max_slice_nums=1")
    with refused, compressing(adapter.hf_model, QUARTER):
        adapter.hf_model(**inputs)


INTERNVL, SMOLVLM = r"Frame(\d+):", r"Frame from \d+:\d\d:"
FRAME, OTHER = "<image>" * 4, "<image>" * 8
SMOL = "<fake>\nFrame from 00:0{}:<fake><global>" + FRAME
INTRO = "the following series of one frames from a 0:00:01 [H:MM:SS] video.\n"


@pytest.mark.parametrize(
    ("announcement", "text", "frames", "images"),
    [
        (INTERNVL, f"Frame1: {FRAME}\nFrame2: {FRAME}", [2], [1, 1]),
        (INTERNVL, f"Frame1: {FRAME}\nFrame2: {FRAME}\nFrame1: {FRAME}", [2, 1], [1, 1, 1]),
        (INTERNVL, f"Frame1: {FRAME}\nand\nFrame2: {FRAME}", [1, 1], [1, 1]),
        (INTERNVL, f"Image-1: {FRAME}\nImage-2: {FRAME}\nFrame1: {FRAME}", [1], [0, 0, 1]),
        (INTERNVL, f"Frame1: {FRAME}\n{FRAME}\nFrame2: {FRAME}", [1, 1], [1, 0, 1]),
        (INTERNVL, f"Frame1: {OTHER}\n{OTHER}", [], [0, 0, 0, 0]),
        (INTERNVL, "Frame1: nothing", [], []),
        (SMOLVLM, INTRO + SMOL.format(0) + SMOL.format(1), [2], [1, 1]),
        (SMOLVLM, INTRO + SMOL.format(0) + "\n\n" + INTRO + SMOL.format(0), [1, 1], [1, 1]),
        (SMOLVLM, f"<fake><global>{FRAME}<fake>\n<fake><global>{FRAME}", [], [0, 0]),
    ],
)
def test_frames_are_told_from_images_by_the_words_before_them(announcement, text, frames, images):
    tokenizer = tiny_tokenizer("<fake>", "<global>", image_token="<image>")
    reader = FrameReader(tokenizer, tokenizer.image_token_id, 4, announcement)
    ids = tokenizer(text, return_tensors="pt")["input_ids"]
    found = reader.read(ids)
    assert found.frames == [frames] and found.images == [[bool(one) for one in images]]
    assert int(found.columns.sum()) == 4 * sum(images)


@pytest.mark.parametrize("adapter", ["internvl"], indirect=True)
def test_tokenizer_comes_from_the_folder_of_the_weights_or_from_the_caller(adapter, monkeypatch):
    monkeypatch.setattr(adapter.hf_model.config, "_name_or_path", "")
    monkeypatch.setattr(adapter.hf_model, "name_or_path", "")
    refused = pytest.raises(ModelError, match="pass processor=processor")
    with refused, compressing(adapter.hf_model, QUARTER):
        pass
    with compressing(adapter.hf_model, QUARTER, processor=adapter.processor) as record:
        adapter.hf_model(**asked(adapter, "video"))
    assert record.compression.grid[0] == 4
