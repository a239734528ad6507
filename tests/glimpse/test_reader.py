import csv
from dataclasses import replace

import pytest
import torch

from gleanvid.glimpse.training import reader, teacher
from gleanvid.glimpse.training.reader import Reader, train
from gleanvid.glimpse.training.teacher import ReaderSettings, load
from gleanvid.models.loading.load import BUILTIN

SETTINGS = ReaderSettings(start_from=str(BUILTIN), questions=4, warm_up=2)


@pytest.fixture(autouse=True)
def _small_clips(monkeypatch):
    monkeypatch.setattr(reader, "_SIZES", (96,))
    monkeypatch.setattr(reader, "_UNITS", (2,))
    monkeypatch.setattr(reader, "_LOG_EVERY", 1)
    monkeypatch.setattr(teacher, "computes_bfloat16", lambda device: False)


def test_token_dropping_training_starts_with_the_teacher_s_loss_on_all_tokens(monkeypatch):
    monkeypatch.setattr(reader, "draw_share", lambda rng: 1.0)
    whole, dropped = Reader(SETTINGS, 4).advance()
    # ``whole`` starts with the model's loss, the teacher's loss and their KL divergence.
    assert whole[2] < 1e-5 and torch.equal(whole[:1], whole[1:2])
    assert whole[-1] > 0 and not dropped.any()


def test_token_dropping_training_changes_the_language_model_and_not_the_vision_tower():
    run = Reader(SETTINGS, 4)
    before = {name: weight.clone() for name, weight in run.learner.model.state_dict().items()}
    run.advance()
    changed = {
        name.split(".")[1]
        for name, weight in run.learner.model.state_dict().items()
        if not torch.equal(weight, before[name])
    }
    # "weight" is part of ``lm_head.weight``, which is the same tensor as the input embedding
    assert changed == {"language_model", "weight"}


def test_learning_rate_warms_up_and_falls_to_0_at_the_last_step():
    run = Reader(SETTINGS, 10)
    rates = []
    for run.step in range(11):
        rates.append(run.rate() / SETTINGS.learning_rate)
    assert rates == pytest.approx([0.5, 0.9, 0.8, 0.7, 0.6, 0.5, 0.4, 0.3, 0.2, 0.1, 0])


def test_each_training_clip_is_encoded_once_and_used_for_several_steps(monkeypatch):
    numbers = []
    run = Reader(SETTINGS, 8, rank=1, ranks=2)
    monkeypatch.setattr(reader.distributed, "all_reduce", lambda flat: None)
    look = run.teacher.look
    monkeypatch.setattr(
        run.teacher, "look", lambda number, *shape: numbers.append(number) or look(number, *shape)
    )
    for _ in range(6):
        run.advance()
    assert numbers == [1, 9]  # process 0 encodes clips with even numbers
    assert len(run.shelf) == 2


def test_parallel_processes_step_by_the_mean_of_their_gradients(monkeypatch):
    alone, together = Reader(SETTINGS, 4), Reader(SETTINGS, 4, ranks=2)
    noted = alone.advance()
    # Simulates a second process with the same gradient.
    monkeypatch.setattr(reader.distributed, "all_reduce", lambda flat: flat.mul_(2))
    torch.testing.assert_close(together.advance(), 2 * noted)
    for one, other in zip(alone.weights, together.weights, strict=True):
        torch.testing.assert_close(one, other)


def test_training_resumes_from_its_checkpoint_even_for_more_steps(tmp_path):
    train(0, 1, SETTINGS, 2, 99.0, tmp_path)
    resumed = Reader(SETTINGS, 3)
    resumed.restore(tmp_path / "checkpoint.pt")
    assert resumed.step == 2 and resumed.rate() > 0
    train(0, 1, SETTINGS, 3, 99.0, tmp_path)
    with (tmp_path / "loss.csv").open(newline="") as file:
        assert [row["step"] for row in csv.DictReader(file)] == ["1", "2", "3"]
    learner, _ = load(str(tmp_path / "model"))
    state = torch.load(tmp_path / "checkpoint.pt")["weights"]
    for name, weight in learner.model.model.language_model.state_dict().items():
        # The model directory has float16 weights, the checkpoint float32.
        torch.testing.assert_close(weight, state[name], atol=1e-3, rtol=1e-3)


def test_training_from_earlier_weights_keeps_the_first_model_as_teacher(tmp_path):
    train(0, 1, SETTINGS, 1, 99.0, tmp_path)
    further = replace(SETTINGS, weights=str(tmp_path / "model"))
    run = Reader(further, 4)
    first, earlier = (load(folder)[0].model for folder in (BUILTIN, further.weights))
    layer = "model.language_model.layers.0.mlp.up_proj.weight"
    own, teacher = run.learner.model.state_dict(), run.teacher.learner.model.state_dict()
    assert torch.equal(own[layer], earlier.state_dict()[layer])
    assert torch.equal(teacher[layer], first.state_dict()[layer])
    assert not torch.equal(own[layer], teacher[layer])
