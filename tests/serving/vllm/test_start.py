"""What the plug-in registers with vLLM; a fake replaces the parts of vLLM that it uses."""

import subprocess
import sys
import tomllib
from importlib import import_module
from pathlib import Path
from types import ModuleType, SimpleNamespace

import pytest

from gleanvid.compressors import COMPRESSORS
from gleanvid.serving.vllm import MODELS, register
from gleanvid.serving.vllm.start import method_of, take_settings

OTHER = "LlavaForConditionalGeneration"
ROOT = Path(__file__).parents[3]


class Known:
    calls: list[object] = []  # noqa: RUF012

    @staticmethod
    def verify_and_update_config(vllm_config):
        Known.calls.append(vllm_config)


@pytest.fixture
def vllm(monkeypatch):
    """A fake of the parts of vLLM that the plug-in uses; the platform is not a CPU."""
    registered, known = {}, {"Qwen3_5ForConditionalGeneration": Known}
    parts = {
        "vllm": {
            "ModelRegistry": SimpleNamespace(
                register_model=registered.__setitem__,
                get_supported_archs=lambda: [*registered, OTHER],
            )
        },
        "vllm.platforms": {"current_platform": SimpleNamespace(is_cpu=lambda: False)},
        "vllm.model_executor": {},
        "vllm.model_executor.models": {},
        "vllm.model_executor.models.config": {
            "MODELS_CONFIG_MAP": known,
            "VerifyAndUpdateConfig": Known,
        },
    }
    for name, values in parts.items():
        module = ModuleType(name)
        module.__dict__.update(values)
        monkeypatch.setitem(sys.modules, name, module)
    return SimpleNamespace(registered=registered, checks=known)


def config(given, rate=0.75, speculative=None, architecture="Qwen3VLForConditionalGeneration"):
    multimodal = SimpleNamespace(video_pruning_rate=rate)
    return SimpleNamespace(
        model_config=SimpleNamespace(
            multimodal_config=multimodal, hf_config=SimpleNamespace(), architecture=architecture
        ),
        parallel_config=SimpleNamespace(worker_extension_cls=""),
        speculative_config=speculative,
        additional_config={} if given is None else {"gleanvid": given},
    )


def test_vllm_entry_point_names_the_registering_function():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    module, name = project["entry-points"]["vllm.general_plugins"]["gleanvid"].split(":")
    assert getattr(import_module(module), name) is register


def test_every_architecture_is_registered_once_with_model_class_and_configuration_check(vllm):
    register()
    checks = dict(vllm.checks)
    register()  # vLLM registers plug-ins in every process, possibly twice
    assert vllm.checks == checks and checks.keys() == {*MODELS, OTHER}
    assert vllm.registered.keys() == MODELS.keys()
    text = (ROOT / "gleanvid/serving/vllm/models.py").read_text(encoding="utf-8")
    for place in vllm.registered.values():
        module, name = place.split(":")
        assert module == "gleanvid.serving.vllm.models" and f"class {name}(" in text


def test_configuration_check_runs_vllm_s_own_and_stores_the_compressor_settings(vllm):
    register()
    asked = config({"name": "gleanvid", "tau": 2.0})
    vllm.checks["Qwen3_5ForConditionalGeneration"].verify_and_update_config(asked)
    assert Known.calls[-1] is asked
    assert method_of(asked.model_config.hf_config) == COMPRESSORS["gleanvid"](tau=2.0)
    assert asked.parallel_config.worker_extension_cls.endswith(".WorkerRecords")


IMAGES = "gleanvid_image_pruning_rate"
REFUSED = [
    ({"gleanvid": "fastv"}, "fastv cannot be served by vLLM"),
    *(
        ({"gleanvid": "gleanvid", IMAGES: rate}, f"{IMAGES}={rate!r} in --additional-config must")
        for rate in (1, -0.1, "0.5", True, None, float("nan"))
    ),
    ({IMAGES: 0.5}, f'{IMAGES} needs a method: name one as "gleanvid"'),
    ({"gleanvd": "gleanvid"}, "has 'gleanvd': write 'gleanvid'"),
    ({"gleanvid_image_rate": 0.5}, f"has 'gleanvid_image_rate': write '{IMAGES}'"),
]


@pytest.mark.parametrize(("additional", "sentence"), REFUSED)
def test_vllm_start_is_refused_for_wrong_options(additional, sentence):
    asked = config(None)
    asked.additional_config = additional
    with pytest.raises(ValueError, match=sentence):
        take_settings(asked)


def test_vllm_start_is_refused_for_speculative_decoding():
    with pytest.raises(ValueError, match="leave out --speculative-config"):
        take_settings(config("gleanvid", speculative=object()))


def test_unsupported_model_is_refused_only_if_a_compressor_is_set(vllm):
    register()
    check = vllm.checks[OTHER].verify_and_update_config
    with pytest.raises(ValueError, match=f"does not serve {OTHER}, only .* Qwen3VL"):
        check(config("gleanvid", architecture=OTHER))
    other = config(None, architecture=OTHER)
    # vLLM sets multimodal_config to None for a text-only model
    other.model_config.multimodal_config = None
    check(other)
    assert method_of(other.model_config.hf_config) is None


def test_serving_package_imports_neither_torch_nor_vllm():
    program = (
        "import sys; sys.modules['vllm'] = None\n"
        "import gleanvid, gleanvid.serving.vllm\n"
        "assert not {'torch', 'transformers'} & sys.modules.keys()\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
