"""The registry names only what a family reads, and says nothing impossible."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import gleanvid.models
from gleanvid.cli import main
from gleanvid.evaluation.catalogue import model_table
from gleanvid.models import MODELS, load_model
from gleanvid.models.loading.random_weights import shipped_configs
from gleanvid.models.loading.registry import CHECKPOINTS, FIRST_CHOICES
from tests.models.conftest import ALL, EVERY

READ_AS_ANOTHER = {"llava_qwen", "qwen3_omni_moe"}  # which become llava_video and the thinker
CONFIGS = Path(gleanvid.models.__file__).parent / "configs"


def test_every_checkpoint_is_of_a_supported_type_and_every_family_has_one():
    kinds = {row.model_type for row in CHECKPOINTS}
    for family in MODELS:
        assert kinds & set(family.model_types), family
    assert kinds <= {kind for family in MODELS for kind in family.model_types}
    names = [row.name for row in CHECKPOINTS]
    assert len(names) == len(set(names)) and names[0] == "builtin"


def test_every_type_that_is_accepted_is_built_and_tested(adapters):
    accepted = {kind for family in MODELS for kind in family.model_types}
    built = {adapters[family].hf_model.config.model_type for family in EVERY}
    if len(EVERY) == len(ALL):
        assert accepted - built == READ_AS_ANOTHER


def test_sizes_follow_from_the_parameters():
    for row in CHECKPOINTS:
        counted = row.parameters or row.size
        assert row.weights_gb == 2 * counted > 0
        assert 0.5 * row.size <= counted <= 2 * row.size  # a name is about right
        assert row.context is None or row.context >= 2048


NOT_KNOWN = {  # to us with certainty
    "licence": {"OpenGVLab/InternVL3-1B-hf", "Qwen/Qwen3.8-27B"},
    "context": {
        "Qwen/Qwen3-Omni-30B-A3B-Instruct",
        "Qwen/Qwen3.8-27B",
        "allenai/Molmo2-4B",
        "allenai/Molmo2-O-7B",
        "HuggingFaceTB/SmolVLM2-2.2B-Instruct",
        "OpenGVLab/InternVL3-1B-hf",
        "OpenGVLab/InternVL3-8B-hf",
        "lkhl/VideoLLaMA3-2B-Image-HF",
        "facebook/Perception-LM-1B",
        "facebook/Perception-LM-8B",
    },
}


@pytest.mark.parametrize("name", NOT_KNOWN)
def test_blanks_are_those_that_are_named(name):
    assert {row.name for row in CHECKPOINTS if not getattr(row, name)} == NOT_KNOWN[name]


@pytest.mark.parametrize("name", shipped_configs())
def test_rows_say_what_the_shipped_configurations_do(name):
    facts = json.loads((CONFIGS / f"{name}.json").read_text())
    (row,) = (row for row in CHECKPOINTS if row.name == facts["source"].split(",")[0])
    assert row.context == facts["config"]["text_config"]["max_position_embeddings"]


def test_the_command_tells_every_row(capsys):
    assert main(["models"]) == 0
    assert capsys.readouterr().out.strip() == model_table()
    assert main(["models", "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)
    assert [row["name"] for row in rows] == [row.name for row in CHECKPOINTS]
    assert [row["weights_gb"] for row in rows] == [row.weights_gb for row in CHECKPOINTS]
    assert all(f"| `{row['name']}` |" in model_table() for row in rows)


def test_the_built_in_row_is_counted_from_its_weights():
    row, model = CHECKPOINTS[0], load_model("builtin", device="cpu")
    counted = sum(weight.numel() for weight in model.hf_model.parameters()) / 1e9
    assert abs(counted - row.parameters) < 0.05 * counted
    assert model.text_config.max_position_embeddings == row.context
    assert model.hf_model.config.model_type == row.model_type


def test_the_readme_begins_with_the_first_choices():
    text = (Path(__file__).parents[3] / "README.md").read_text(encoding="utf-8")
    head = text.split("## Start")[1].split("\n## ")[0]
    *sizes, (_, smallest) = FIRST_CHOICES
    for size, name in sizes:
        assert f"{name.rpartition('/')[2].removesuffix('-Instruct')} on {size} GB" in head
    assert smallest in head
