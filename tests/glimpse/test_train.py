import shutil
from functools import cache

import pytest
import torch
from safetensors.torch import load_file
from transformers import AutoProcessor

from gleanvid.glimpse.training.curriculum import Pace, Phase, TrainSettings, computes_bfloat16
from gleanvid.glimpse.training.tokenizer import build_tokenizer
from gleanvid.glimpse.training.train import Trainer


@pytest.fixture(scope="module", autouse=True)
def _one_tokenizer():
    """Build the tokenizer only once, as it is the same in all tests."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("gleanvid.glimpse.training.train.build_tokenizer", cache(build_tokenizer))
        yield


def small_curriculum(monkeypatch):
    early = Phase("a", 0, ((96, 96),), (1,))
    late = Phase("b", 2, ((96, 96),), (2,), asked=2, first_asked=True)
    monkeypatch.setattr("gleanvid.glimpse.training.curriculum.PHASES", (early, late))


def test_resumed_training_ends_with_the_weights_of_uninterrupted_training(tmp_path, monkeypatch):
    small_curriculum(monkeypatch)
    # float32, as some CPUs only emulate bfloat16, which is slow
    settings = TrainSettings(token_budget=72, bfloat16=False)
    pace = Pace(steps=4, workers=0, validate_every=10, save_every=2)
    folder = tmp_path / "whole"
    whole = Trainer(settings, pace, folder)
    save = whole.save

    def and_copy():
        save()
        if whole.step == 2:
            shutil.copytree(folder, tmp_path / "parts")

    whole.save = and_copy
    whole.run()
    resumed = Trainer(settings, pace, tmp_path / "parts")
    assert resumed.step == 2
    resumed.run()
    whole, parts = (
        torch.load(tmp_path / name / "checkpoint.pt")["learner"] for name in ("whole", "parts")
    )
    assert all(torch.equal(whole[name], parts[name]) for name in whole)
    AutoProcessor.from_pretrained(tmp_path / "parts" / "model")


def test_run_that_ends_before_questions_are_asked_writes_no_accuracy(tmp_path, monkeypatch):
    small_curriculum(monkeypatch)
    pace = Pace(steps=1, workers=0, save_every=10)
    Trainer(TrainSettings(token_budget=72, bfloat16=False), pace, tmp_path).run()
    assert (tmp_path / "model").exists() and not (tmp_path / "accuracy.csv").exists()


@pytest.mark.parametrize("is_native", [False, True])
def test_bfloat16_is_used_only_on_machines_that_compute_it(tmp_path, monkeypatch, is_native):
    monkeypatch.setattr("torch.cpu._is_avx512_bf16_supported", lambda: is_native)
    assert Trainer(TrainSettings(bfloat16=True), Pace(), tmp_path / "a").in_bfloat16 == is_native
    assert not Trainer(TrainSettings(bfloat16=False), Pace(), tmp_path / "b").in_bfloat16
    assert computes_bfloat16(torch.device("cuda"))


def test_error_for_settings_that_differ_from_the_checkpoint_s_names_the_setting(
    tmp_path, monkeypatch
):
    small_curriculum(monkeypatch)
    Trainer(TrainSettings(token_budget=72), Pace(), tmp_path).save()
    with pytest.raises(ValueError, match="seed=1"):
        Trainer(TrainSettings(token_budget=72, seed=1), Pace(), tmp_path)


def test_learning_rate_warms_up_when_a_loss_is_added_and_falls_at_the_end(tmp_path, monkeypatch):
    small_curriculum(monkeypatch)
    trainer = Trainer(TrainSettings(warm_up=2), Pace(steps=100), tmp_path)
    rates = []
    for trainer.step in range(100):
        rates.append(trainer.rate() / trainer.settings.learning_rate)
    assert rates[:5] == [0.5, 1, 0.5, 1, 1]
    assert rates[70] == 1 > rates[90] > rates[99] > 0


def test_training_can_start_from_the_weights_of_a_model(tmp_path):
    Trainer(TrainSettings(seed=3), Pace(), tmp_path / "earlier").save()
    folder = tmp_path / "earlier" / "model"
    begun = Trainer(
        TrainSettings(start_from=str(folder), first_step=1000), Pace(), tmp_path / "later"
    )
    own = begun.learner.model.state_dict()
    for name, weight in load_file(folder / "model.safetensors").items():
        assert torch.equal(own[name], weight.float()), name
    # The learning rate begins near 0 and warms up, as in a run that begins with random weights.
    assert begun.rate() < begun.settings.learning_rate / 50


def test_vision_tower_is_updated_only_at_steps_that_are_multiples_of_look_every(
    tmp_path, monkeypatch
):
    small_curriculum(monkeypatch)
    trainer = Trainer(TrainSettings(token_budget=72, look_every=3), Pace(steps=4), tmp_path)
    trainer.step, stayed = 1, []
    for batch in trainer.batches("train", range(1, 4), 0):
        before = {n: w.clone() for n, w in trainer.learner.model.model.visual.state_dict().items()}
        trainer.advance(batch)
        after = trainer.learner.model.model.visual.state_dict()
        stayed.append(all(torch.equal(before[name], after[name]) for name in before))
    # Step 1 has only the loss that trains the vision tower. Questions begin at step 2, which
    # freezes the tower; step 3 is a multiple of look_every.
    assert stayed == [False, True, False]
