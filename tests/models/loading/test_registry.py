from gleanvid.models import MODELS, load_model
from gleanvid.models.loading.registry import CHECKPOINTS
from tests.models.conftest import ALL, EVERY

# model types that load as another type: LLaVA-Video, or the thinker of Qwen3-Omni
READ_AS_ANOTHER = {"llava_qwen", "qwen3_omni_moe"}


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


def test_registry_entry_of_the_built_in_model_matches_its_weights():
    row, model = CHECKPOINTS[0], load_model("builtin", device="cpu")
    counted = sum(weight.numel() for weight in model.hf_model.parameters()) / 1e9
    assert abs(counted - row.parameters) < 0.05 * counted
    assert model.text_config.max_position_embeddings == row.context
    assert model.hf_model.config.model_type == row.model_type
