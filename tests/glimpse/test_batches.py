import numpy as np
import pytest
import torch

from gleanvid.glimpse.questions.questions import questions
from gleanvid.glimpse.training.architecture import build_model, build_processor
from gleanvid.glimpse.training.batches import WEIGHTS, choose, make_clip, pack
from gleanvid.glimpse.training.learner import Learner
from gleanvid.glimpse.training.targets import IGNORED
from gleanvid.glimpse.training.tokenizer import build_tokenizer
from gleanvid.glimpse.world.render import render
from gleanvid.glimpse.world.scenes import sample_scene
from gleanvid.glimpse.world.world import ClipSettings

SETTINGS = ClipSettings(height=96, width=128, num_frames=6)


@pytest.fixture(scope="module")
def tokenizer():
    return build_tokenizer()


@pytest.fixture(scope="module")
def learner(tokenizer):
    torch.manual_seed(1)
    model = build_model(tokenizer)
    # larger weights than the default ones, whose logits are too similar to reveal errors
    for weight in model.parameters():
        if weight.ndim > 1:
            torch.nn.init.normal_(weight, std=0.05)
    return Learner(model, tokenizer)


@pytest.fixture(scope="module")
def clip():
    return make_clip(0, "train", 4, SETTINGS, worse=False, limit=6)


def inference_inputs(clip, question, tokenizer):
    """Return what the model's own processor makes of a clip, a question and its answer."""
    processor = build_processor(tokenizer)
    content = [{"type": "video"}, {"type": "text", "text": question.text}]
    prompt = processor.apply_chat_template(
        [{"role": "user", "content": content}], add_generation_prompt=True, tokenize=False
    )
    frames, _ = render(sample_scene(0, "train", 4, SETTINGS), 16)
    step = clip.seconds[1] - clip.seconds[0]
    metadata = {
        "total_num_frames": len(frames),
        "fps": 2 / step,
        "frames_indices": list(range(len(frames))),
        "height": 96,
        "width": 128,
        "duration": len(frames) * step / 2,
    }
    return processor(
        text=[f"{prompt} {question.answer}<|im_end|>"],
        videos=[frames],
        video_metadata=[metadata],
        do_sample_frames=False,
        return_tensors="pt",
    )


def test_packed_question_has_the_token_ids_and_pixels_that_the_processor_makes(clip, tokenizer):
    batch = pack([clip], tokenizer)
    for q, question in enumerate(clip.questions, start=1):
        inputs = inference_inputs(clip, question, tokenizer)
        own = (batch.segments[0] == 0) | (batch.segments[0] == q)
        assert batch.ids[0, own].tolist() == inputs["input_ids"][0].tolist()
        assert torch.allclose(batch.patches, inputs["pixel_values_videos"], atol=1e-5)


def test_question_packed_with_others_gets_the_same_logits_as_alone(clip, tokenizer, learner):
    batch = pack([clip, make_clip(0, "train", 5, SETTINGS, worse=True, limit=6)], tokenizer)
    untouched = build_model(tokenizer)
    untouched.load_state_dict(learner.model.state_dict())
    with torch.no_grad():
        reading = learner.read(batch, learner.encode(batch))
        scores, labels = reading.scores, reading.labels
        offset = 0
        for question in clip.questions:
            inputs = inference_inputs(clip, question, tokenizer)
            inputs.pop("video_metadata", None)
            length = len(tokenizer(question.answer)["input_ids"]) + 1
            expected = untouched(**inputs).logits[0, -length - 1 : -1]
            mine = scores[offset : offset + length]
            assert torch.allclose(mine, expected, atol=2e-3), (mine - expected).abs().max()
            assert labels[offset : offset + length].tolist()[-1] == tokenizer.eos_token_id
            offset += length


def test_training_loss_covers_answer_tokens_only(clip, tokenizer):
    batch = pack([clip], tokenizer)
    answers = batch.labels[0][batch.labels[0] != IGNORED]
    assert tokenizer.decode(answers) == "".join(f" {q.answer}<|im_end|>" for q in clip.questions)


def test_chosen_questions_cover_as_many_question_types_as_possible():
    for index in range(20):
        scene = sample_scene(0, "train", index, SETTINGS)
        rng = np.random.default_rng(index)
        possible = {question.family for question in questions(scene, rng)}
        chosen = [q.family for q in choose(scene, rng, 5) if q.family != "caption"]
        assert len(set(chosen)) == min(len(possible), len(chosen))


def test_loss_weight_of_an_answer_does_not_depend_on_its_length(clip, tokenizer):
    batch = pack([clip], tokenizer)
    sums = {
        question.family: float(batch.weights[0, batch.segments[0] == q].sum())
        for q, question in enumerate(clip.questions, start=1)
    }
    assert len(sums) > 2
    for family, total in sums.items():
        assert total == pytest.approx(WEIGHTS.get(family, 1.0))
    assert float(batch.weights.sum()) == pytest.approx(
        float(batch.weights[batch.labels != IGNORED].sum())
    )


def test_evidence_target_belongs_to_the_token_before_each_answer(clip, tokenizer):
    batch = pack([clip, clip], tokenizer)
    assert batch.asked.shape == (2 * len(clip.questions), 2)
    assert (batch.labels[batch.asked[:, 0], batch.asked[:, 1]] == IGNORED).all()
    first = batch.labels[batch.asked[:, 0], batch.asked[:, 1] + 1]
    expected = [tokenizer(q.answer)["input_ids"][0] for q in clip.questions]
    assert first.tolist() == expected * 2
    assert batch.evidence.shape == (len(batch.asked), len(clip.seen))
