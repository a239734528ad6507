"""What the plug-in registers with vLLM, on a fake of the parts that it uses."""

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
    """The parts of vLLM that the plug-in uses; the platform is not a CPU."""
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


def test_the_entry_point_names_the_function_that_registers():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    module, name = project["entry-points"]["vllm.general_plugins"]["gleanvid"].split(":")
    assert getattr(import_module(module), name) is register


def test_every_architecture_gets_its_class_and_its_check_once(vllm):
    register()
    checks = dict(vllm.checks)
    register()  # vLLM does so in every process, and may twice
    assert vllm.checks == checks and checks.keys() == {*MODELS, OTHER}
    assert vllm.registered.keys() == MODELS.keys()
    text = (ROOT / "gleanvid/serving/vllm/models.py").read_text(encoding="utf-8")
    for place in vllm.registered.values():
        module, name = place.split(":")
        assert module == "gleanvid.serving.vllm.models" and f"class {name}(" in text


def test_settings_reach_the_model_s_configuration_after_vllm_s_check(vllm):
    register()
    asked = config({"name": "gleanvid", "tau": 2.0})
    vllm.checks["Qwen3_5ForConditionalGeneration"].verify_and_update_config(asked)
    assert Known.calls[-1] is asked
    assert method_of(asked.model_config.hf_config) == COMPRESSORS["gleanvid"](tau=2.0)
    assert asked.parallel_config.worker_extension_cls.endswith(".WorkerRecords")


def test_wrong_options_end_the_start():
    with pytest.raises(ValueError, match="fastv cannot be served by vLLM"):
        take_settings(config("fastv"))
    with pytest.raises(ValueError, match="leave out --speculative-config"):
        take_settings(config("gleanvid", speculative=object()))


def test_an_unserved_model_is_refused_only_with_a_method(vllm):
    register()
    check = vllm.checks[OTHER].verify_and_update_config
    with pytest.raises(ValueError, match=f"does not serve {OTHER}, but Qwen3VL"):
        check(config("gleanvid", architecture=OTHER))
    other = config(None, architecture=OTHER)
    other.model_config.multimodal_config = None  # a model of words alone
    check(other)
    assert method_of(other.model_config.hf_config) is None


@pytest.mark.parametrize("key", ["gleanvd", "GleanVID", "glean_vid"])
def test_a_misspelt_key_ends_the_start(key):
    asked = config(None)
    asked.additional_config = {"other": 1, key: "gleanvid"}
    with pytest.raises(ValueError, match=f"has '{key}': write 'gleanvid'"):
        take_settings(asked)
    del asked.additional_config[key]
    take_settings(asked)
    assert method_of(asked.model_config.hf_config) is None


def test_the_start_logs_method_and_ratio(caplog):
    with caplog.at_level("INFO", "vllm.gleanvid"):
        take_settings(config({"name": "gleanvid", "tau": 2.0}, rate=0.9))
    (line,) = caplog.messages
    assert line.startswith("GleanVID keeps 10% of every video's tokens: {'name': 'gleanvid'")
    assert "'tau': 2.0" in line and "retention_ratio" not in line


def test_the_package_is_light_and_needs_no_vllm():
    program = (
        "import sys; sys.modules['vllm'] = None\n"
        "import gleanvid, gleanvid.serving.vllm\n"
        "assert not {'torch', 'transformers'} & sys.modules.keys()\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
