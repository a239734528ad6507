from __future__ import annotations

import json
from pathlib import Path

import pytest

import gleanvid.models
from gleanvid.cli import main
from gleanvid.evaluation.catalogue import model_table
from gleanvid.models import MODELS, load_model
from gleanvid.models.loading.random_weights import shipped_configs
from gleanvid.models.loading.registry import CHECKPOINTS
from tests.models.conftest import ALL, EVERY

# model types that load as another type: LLaVA-Video, or the thinker of Qwen3-Omni
READ_AS_ANOTHER = {"llava_qwen", "qwen3_omni_moe"}
CONFIGS = Path(gleanvid.models.__file__).parent / "configs"


def test_every_checkpoint_has_a_supported_type_and_every_model_family_a_checkpoint():
    kinds = {row.model_type for row in CHECKPOINTS}
    for family in MODELS.values():
        assert kinds & set(family.model_types), family
    assert kinds <= {*MODELS}
    names = [row.name for row in CHECKPOINTS]
    assert len(names) == len(set(names)) and names[0] == "builtin"


def test_every_supported_model_type_is_tested_on_a_tiny_model(adapters):
    accepted = {*MODELS}
    built = {adapters[family].hf_model.config.model_type for family in EVERY}
    if len(EVERY) == len(ALL):
        assert accepted - built == READ_AS_ANOTHER


def test_checkpoint_sizes_match_their_parameter_counts():
    for row in CHECKPOINTS:
        counted = row.parameters or row.size
        assert row.weights_gb == 2 * counted > 0
        # the size in the model's name is about right
        assert 0.5 * row.size <= counted <= 2 * row.size
        assert row.context is None or row.context >= 2048


@pytest.mark.parametrize("name", shipped_configs())
def test_context_lengths_match_the_shipped_configurations(name):
    facts = json.loads((CONFIGS / f"{name}.json").read_text())
    (row,) = (row for row in CHECKPOINTS if row.name == facts["source"].split(",")[0])
    assert row.context == facts["config"]["text_config"]["max_position_embeddings"]


def test_models_command_prints_every_checkpoint(capsys):
    assert main(["models"]) == 0
    assert capsys.readouterr().out.strip() == model_table()
    assert main(["models", "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)
    assert [row["name"] for row in rows] == [row.name for row in CHECKPOINTS]
    assert [row["weights_gb"] for row in rows] == [row.weights_gb for row in CHECKPOINTS]
    assert all(f"| `{row['name']}` |" in model_table() for row in rows)


def test_registry_entry_of_the_built_in_model_matches_its_weights():
    row, model = CHECKPOINTS[0], load_model("builtin", device="cpu")
    counted = sum(weight.numel() for weight in model.hf_model.parameters()) / 1e9
    assert abs(counted - row.parameters) < 0.05 * counted
    assert model.text_config.max_position_embeddings == row.context
    assert model.hf_model.config.model_type == row.model_type
