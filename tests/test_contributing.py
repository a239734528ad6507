"""The code examples of CONTRIBUTING.md and docs/ are complete and do what the text says."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import torch

from gleanvid.models import load_model
from gleanvid.models.generation.sampling import Sampling
from gleanvid.types import ModelError, VideoTokens
from tests.models.oracle import EveryNth
from tests.models.tiny import noise_video

ROOT = Path(__file__).parents[1]
FILES = (ROOT / "CONTRIBUTING.md", ROOT / "docs" / "guides" / "add_a_model_family.md")
TEXT = "\n".join(path.read_text(encoding="utf-8") for path in FILES)


def example(name):
    """Return the class of this name, after running the code block that defines it."""
    (code,) = (part for part in re.findall(r"```python\n(.*?)```", TEXT, re.S) if name in part)
    names = {"__name__": __name__}
    exec(compile(code, "CONTRIBUTING.md", "exec", dont_inherit=True), names)
    return names[name]


def test_example_compressor_of_contributing_keeps_the_expected_tokens():
    tokens = VideoTokens(torch.rand(24, 4), grid=(2, 3, 4))
    record = example("FirstOnes")(retention_ratio=0.25, skip=3).compress(tokens)
    assert record.keep.tolist() == [3, 4, 5, 6, 7, 8]
    with pytest.raises(ValueError, match="skip=-1"):
        example("FirstOnes")(skip=-1)


def test_example_model_family_of_the_guide_equals_the_built_in_one(model_folder):
    known = load_model(model_folder, device="cpu")
    made = example("MyVideo")("mine", known.hf_model, known.processor)
    video, needs = noise_video(6, 64, 96), frozenset({"saliency"})
    one, other = known.encode(video, needs), made.encode(video, needs)
    assert one.tokens.grid == other.tokens.grid
    for name in ("features", "seconds", "rectangles", "saliency"):
        torch.testing.assert_close(
            getattr(other.tokens, name), getattr(one.tokens, name), rtol=0, atol=0
        )
    quarter = EveryNth(retention_ratio=0.25)
    answers = [model.generate(one, "what?", quarter, Sampling(6)) for model in (known, made)]
    assert answers[0].text == answers[1].text and answers[1].by_layer[0].num_kept < 18
    with pytest.raises(ModelError, match="max_pixels"):
        made.encode(video, max_pixels=99)


PLACES = r"`((?:gleanvid|tests|components|docs)/(?!_build)[\w/.]+)`"


@pytest.mark.parametrize("path", re.findall(PLACES, TEXT))
def test_files_named_in_contributing_exist(path):
    assert (ROOT / path).exists()
