import pytest
import torch

from gleanvid.evaluation.check.reference import kept_columns
from gleanvid.models import compressing, load_model
from gleanvid.types import Video
from tests.models.oracle import (
    QUESTIONS,
    Tilted,
    generate,
    masked_logits,
    model_inputs,
    read_while_decoding,
)
from tests.models.tiny import noise_video

QUARTER = Tilted(retention_ratio=0.25)


@pytest.fixture
def video_model(adapters):
    """A LLaVA-Video model. Its pooling and its newlines are reset after each test."""
    model = adapters["llava_video"]
    before = {name: getattr(model.hf_model.config, name) for name in ("newline_policy",)}
    before |= {"spatial_pool_mode": "average", "newline_position": "grid"}
    yield model
    model.configure(**before)


@pytest.mark.parametrize("position", ["grid", "frame", "one_token", "no_token"])
@pytest.mark.parametrize("mode", ["average", "bilinear"])
def test_every_video_embedding_in_the_prompt_is_the_expected_pooled_token_or_newline(
    video_model, mode, position
):
    video_model.configure(spatial_pool_mode=mode, newline_position=position)
    core, side, seen = video_model.hf_model.model, {"average": 3, "bilinear": 4}[mode], []
    handle = core.multi_modal_projector.register_forward_hook(lambda *made: seen.append(made[2]))
    tokens = video_model.encode(noise_video(3)).tokens
    handle.remove()
    square = seen[0].view(3, 7, 7, -1).permute(0, 3, 1, 2)
    pooled = {
        "average": lambda: torch.nn.functional.avg_pool2d(square, 2),
        "bilinear": lambda: torch.nn.functional.interpolate(square, (4, 4), mode="bilinear"),
    }[mode]()
    assert tokens.grid == (3, side, side)
    assert torch.equal(tokens.features, pooled.permute(0, 2, 3, 1).flatten(0, 2))
    expected, features = [], iter(tokens.features)
    for frame in range(3):
        for row in range(side):
            expected += [next(features) for _ in range(side)]
            last_row, last = row == side - 1, row == side - 1 and frame == 2
            ends = {"grid": True, "frame": last_row, "one_token": last, "no_token": False}
            expected += [core.image_newline] * ends[position]
    inputs = model_inputs(video_model, QUESTIONS[:1], [noise_video(3)])
    rows = []

    def look(module, args, kwargs):
        rows.append(kwargs["inputs_embeds"])

    handle = core.language_model.register_forward_pre_hook(look, with_kwargs=True)
    video_model.hf_model(**inputs)
    handle.remove()
    video = inputs["input_ids"] == video_model.layout.video_token_id
    assert torch.equal(rows[0][video], torch.stack(expected))


@pytest.mark.parametrize("position", ["grid", "frame", "one_token", "no_token"])
@pytest.mark.parametrize("policy", ["line", "all", "none"])
def test_logits_with_every_newline_policy_equal_those_of_the_masked_prompt(
    video_model, position, policy
):
    video_model.configure(newline_position=position, newline_policy=policy)
    inputs = model_inputs(video_model, QUESTIONS[:1])
    with compressing(video_model.hf_model, QUARTER) as record:
        output = generate(video_model, inputs)
    kept = kept_columns(video_model, inputs, [record.compression])
    steps = read_while_decoding(output, inputs)
    _, decoded = masked_logits(video_model.hf_model, inputs, kept, steps)
    torch.testing.assert_close(torch.stack(output.logits, 1), decoded, atol=1e-5, rtol=0)
    lines = {"grid": 15, "frame": 5, "one_token": 1, "no_token": 0}[position]
    touched = len(
        {int(token) // (45 // lines) for token in record.compression.keep} if lines else ()
    )
    stay = {"line": touched, "all": lines, "none": 0}[policy]
    dropped = 45 - record.compression.num_kept + lines - stay
    assert record.prompt_tokens[0] - record.prompt_tokens_kept[0] == dropped


def test_prompt_contains_frame_times_once(adapters):
    model = adapters["llava_video"]
    video = Video.from_frames(noise_video(3).frames, fps=2.0)
    sentence = (
        "<video>\nThe video lasts for 1.50 seconds, and 3 frames are uniformly sampled from it. "
        "These frames are located at 0.00s,0.50s,1.00s.Please answer the following questions "
        "related to this video.\nfirst?<|im_end|>"
    )
    assert sentence in model.chat_text(video, "first?", ())
    later = model.chat_text(video, "second?", [("first?", "yes")])
    assert sentence in later and later.count("uniformly sampled") == 1


def test_llava_video_settings_can_be_given_to_load_model(adapters):
    directory = adapters["llava_video"].name
    chosen = {"spatial_pool_mode": "bilinear", "newline_policy": "all", "time_instruction": False}
    model = load_model(directory, device="cpu", settings=chosen)
    assert model.encode(noise_video(2)).tokens.grid == (2, 4, 4)
    assert model.layout.sides((2, 4, 4))[0].tolist() == [4, 0, 32]
    assert "uniformly sampled" not in model.chat_text(noise_video(2), "what?", ())
    with pytest.raises(ValueError, match="no settings of its own"):
        load_model(adapters["llava_onevision"].name, device="cpu", settings=chosen)
