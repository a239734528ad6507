import sys

import pytest
from PIL import Image

from gleanvid.glimpse.training import curve
from gleanvid.glimpse.training.curve import append_row
from gleanvid.models.loading.load import BUILTIN


@pytest.fixture
def run(tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "argv", ["curve", str(tmp_path)])
    return tmp_path


def test_training_curve_of_the_token_dropping_run_has_panels_for_all_and_fewer_tokens(
    run, monkeypatch
):
    names = ("loss", "teacher_loss", "distance", "right", "teacher_right")
    for step in range(1, 40):
        values = {
            f"{kind}_{name}": float("nan") if step == 7 else 1 / step
            for kind in ("whole", "dropped")
            for name in names
        }
        append_row(run / "loss.csv", {"minute": step / 10, "step": step, **values})
    monkeypatch.setattr(curve, "draw", None)
    curve.main()
    assert Image.open(run / "curve.png").width > 1000


def test_training_curve_of_the_shipped_model_is_drawn_with_accuracy(run, monkeypatch):
    for name in ("loss.csv", "accuracy.csv"):
        (run / name).write_bytes((BUILTIN / name).read_bytes())
    monkeypatch.setattr(curve, "draw_reader", None)
    curve.main()
    assert Image.open(run / "curve.png").width > 1000
