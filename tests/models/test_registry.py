"""The registry names only what a family reads, and says nothing impossible."""

from __future__ import annotations

from gleanvid.models import MODELS, load_model
from gleanvid.models.registry import CHECKPOINTS


def test_every_checkpoint_is_of_a_supported_type_and_every_family_has_one():
    kinds = {row.model_type for row in CHECKPOINTS}
    for family in MODELS:
        assert kinds & set(family.model_types), family
    assert kinds <= {kind for family in MODELS for kind in family.model_types}
    names = [row.name for row in CHECKPOINTS]
    assert len(names) == len(set(names)) and names[0] == "builtin"


def test_every_type_that_is_accepted_is_built_and_tested(adapters):
    accepted = {kind for family in MODELS for kind in family.model_types}
    built = {model.hf_model.config.model_type for model in adapters.values()}
    assert accepted - built == {"llava_qwen"}  # which becomes llava_video when it is read


def test_sizes_follow_from_the_parameters():
    for row in CHECKPOINTS:
        counted = row.parameters or row.size
        assert row.weights_gb == 2 * counted > 0
        assert 0.5 * row.size <= counted <= 2 * row.size  # a name is about right
        assert row.context is None or row.context >= 2048


def test_the_built_in_row_is_counted_from_its_weights():
    row, model = CHECKPOINTS[0], load_model("builtin", device="cpu")
    counted = sum(weight.numel() for weight in model.hf_model.parameters()) / 1e9
    assert abs(counted - row.parameters) < 0.05 * counted
    assert model.text_config.max_position_embeddings == row.context
    assert model.hf_model.config.model_type == row.model_type
