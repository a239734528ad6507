"""Training sees exactly what inference sees."""

import numpy as np
import pytest
import torch
from transformers import AutoProcessor

from gleanvid.glimpse.batches import Phase
from gleanvid.glimpse.casting import sample_scene
from gleanvid.glimpse.learner import Learner
from gleanvid.glimpse.model import build_model, build_processor
from gleanvid.glimpse.packing import IGNORED, choose, make_clip, pack
from gleanvid.glimpse.questions import questions
from gleanvid.glimpse.render import render
from gleanvid.glimpse.tokenizer import build_tokenizer
from gleanvid.glimpse.train import Pace, Trainer, TrainSettings
from gleanvid.glimpse.world import COLOURS, SHAPES, ClipSettings

SETTINGS = ClipSettings(height=96, width=128, num_frames=6)


@pytest.fixture(scope="module")
def tokenizer():
    return build_tokenizer()


@pytest.fixture(scope="module")
def learner(tokenizer):
    torch.manual_seed(1)
    model = build_model(tokenizer)
    for weight in model.parameters():  # the default draw is so flat that errors would hide
        if weight.ndim > 1:
            torch.nn.init.normal_(weight, std=0.05)
    return Learner(model, tokenizer)


@pytest.fixture(scope="module")
def clip():
    return make_clip(0, "train", 4, SETTINGS, worse=False, limit=6)


def inference_inputs(clip, question, tokenizer):
    """What the processor makes of the same clip and one question, answer appended."""
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


def test_a_packed_question_has_the_processors_ids_and_pixels(clip, tokenizer):
    batch = pack([clip], tokenizer)
    for q, question in enumerate(clip.questions, start=1):
        inputs = inference_inputs(clip, question, tokenizer)
        own = (batch.segments[0] == 0) | (batch.segments[0] == q)
        assert batch.ids[0, own].tolist() == inputs["input_ids"][0].tolist()
        assert torch.allclose(batch.patches, inputs["pixel_values_videos"], atol=1e-5)


def test_a_packed_question_is_scored_as_the_untouched_model_scores_it(clip, tokenizer, learner):
    batch = pack([clip, make_clip(0, "train", 5, SETTINGS, worse=True, limit=6)], tokenizer)
    untouched = build_model(tokenizer)
    untouched.load_state_dict(learner.model.state_dict())
    with torch.no_grad():
        scores, labels = learner.answer(batch, learner.encode(batch))
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


def test_the_loss_sees_answers_alone(clip, tokenizer):
    batch = pack([clip], tokenizer)
    answers = batch.labels[0][batch.labels[0] != IGNORED]
    assert tokenizer.decode(answers) == "".join(f" {q.answer}<|im_end|>" for q in clip.questions)


def test_token_targets_name_what_stands_there(clip):
    things = sample_scene(0, "train", 4, SETTINGS).things
    colours = set(clip.targets[:, 1].tolist()) - {0}
    assert colours == {list(COLOURS).index(thing.colour) + 1 for thing in things}
    shown = clip.targets[:, 1] > 0
    assert ((clip.targets[:, 0] != 0) == shown).all()
    for k in colours:
        shapes = set(clip.targets[clip.targets[:, 1] == k, 0].tolist())
        thing = next(t for t in things if list(COLOURS).index(t.colour) + 1 == k)
        expected = IGNORED if thing.behaviour == "turns" else SHAPES.index(thing.shape) + 1
        assert shapes == {expected}


def test_as_many_families_are_asked_as_there_are_questions_for():
    for index in range(20):
        scene = sample_scene(0, "train", index, SETTINGS)
        rng = np.random.default_rng(index)
        possible = {question.family for question in questions(scene, rng)}
        chosen = [q.family for q in choose(scene, rng, 5) if q.family != "caption"]
        assert len(set(chosen)) == min(len(possible), len(chosen))


def small_curriculum(monkeypatch):
    early = Phase("a", 0, ((96, 96),), (1,))
    late = Phase("b", 2, ((96, 96),), (2,), asked=2, first_asked=True)
    monkeypatch.setattr("gleanvid.glimpse.batches.PHASES", (early, late))


def test_a_run_resumes_where_it_was_and_ends_as_if_it_had_never_stopped(tmp_path, monkeypatch):
    small_curriculum(monkeypatch)
    settings = TrainSettings(token_budget=72)
    pace = Pace(steps=4, workers=0, validate_every=10, save_every=2)
    Trainer(settings, pace, tmp_path / "whole").run()
    stopped = Trainer(settings, pace, tmp_path / "parts")
    for batch in stopped.batches("train", range(2), 0):
        stopped.advance(batch)
    stopped.save()
    resumed = Trainer(settings, pace, tmp_path / "parts")
    assert resumed.step == 2
    resumed.run()
    whole, parts = (
        torch.load(tmp_path / name / "checkpoint.pt")["learner"] for name in ("whole", "parts")
    )
    assert all(torch.equal(whole[name], parts[name]) for name in whole)
    AutoProcessor.from_pretrained(tmp_path / "parts" / "model")


def test_other_settings_than_the_checkpoints_are_refused_by_name(tmp_path, monkeypatch):
    small_curriculum(monkeypatch)
    Trainer(TrainSettings(token_budget=72), Pace(), tmp_path).save()
    with pytest.raises(ValueError, match="seed=1"):
        Trainer(TrainSettings(token_budget=72, seed=1), Pace(), tmp_path)


def test_the_rate_warms_up_where_a_loss_sets_in_and_falls_at_the_end(tmp_path, monkeypatch):
    small_curriculum(monkeypatch)
    trainer = Trainer(TrainSettings(warm_up=2), Pace(steps=100), tmp_path)
    rates = []
    for trainer.step in range(100):
        rates.append(trainer.rate() / trainer.settings.learning_rate)
    assert rates[:5] == [0.5, 1, 0.5, 1, 1]
    assert rates[70] == 1 > rates[90] > rates[99] > 0
