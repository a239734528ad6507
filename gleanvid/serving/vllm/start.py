"""Check the compressor in vLLM's options and store it, before vLLM builds a model."""

from __future__ import annotations

import functools
import logging
from collections.abc import Mapping
from difflib import get_close_matches
from typing import Any

from gleanvid import plugins
from gleanvid.compressors import COMPRESSORS, Compressor, from_settings
from gleanvid.serving.vllm import MODELS
from gleanvid.serving.vllm.methods import chosen_method

_LOG = logging.getLogger("vllm.gleanvid")  # a child of vLLM's logger, so that vLLM prints it
# Keys in --additional-config.
KEY = "gleanvid"  # compression method: its name, or a mapping of its settings
PLUGIN = "gleanvid_plugin"  # Python file or installed distribution with your own method
IMAGES = "gleanvid_image_pruning_rate"  # fraction of every image's tokens to drop
WORKER = "gleanvid.serving.vllm.records.WorkerRecords"


def check_at_start(architecture: str) -> None:
    """Make vLLM call :func:`take_settings` when it checks its options for this architecture."""
    from vllm.model_executor.models.config import MODELS_CONFIG_MAP, VerifyAndUpdateConfig

    known = MODELS_CONFIG_MAP.get(architecture, VerifyAndUpdateConfig)
    if getattr(known, "takes_gleanvid", False):
        return  # vLLM may call ``register`` more than once

    class Checked(known):  # type: ignore[misc, valid-type]
        takes_gleanvid = True

        @staticmethod
        def verify_and_update_config(vllm_config: Any) -> None:
            known.verify_and_update_config(vllm_config)
            take_settings(vllm_config)

    MODELS_CONFIG_MAP[architecture] = Checked


def take_settings(vllm_config: Any) -> None:
    """Check the method in ``--additional-config`` and store it in the model's configuration.

    The model's configuration reaches every process of vLLM. Raises ``ValueError`` for a method that
    cannot be served.
    """
    given = _given(vllm_config.additional_config)
    if given is None:
        return
    architecture = vllm_config.model_config.architecture
    if architecture not in MODELS:  # these run vLLM's own class, without GleanVID
        raise ValueError(
            f"GleanVID does not serve {architecture}, only vLLM's own {', '.join(MODELS)}: "
            f'leave "{KEY}" out of --additional-config'
        )
    hf_config = vllm_config.model_config.hf_config
    if plugin := vllm_config.additional_config.get(PLUGIN):
        plugins.load(plugin)
        hf_config.gleanvid_plugin = plugin
    rate = vllm_config.model_config.multimodal_config.video_pruning_rate
    method = chosen_method(given, rate)
    if vllm_config.speculative_config is not None:
        raise ValueError(
            f"{method.name} is not served together with speculative decoding, whose draft model "
            "asks for positions one token ahead: leave out --speculative-config"
        )
    hf_config.gleanvid = method.settings()
    image_rate = _image_rate(vllm_config.additional_config.get(IMAGES, 0.0))
    hf_config.gleanvid_image_rate = image_rate
    if not vllm_config.parallel_config.worker_extension_cls:
        vllm_config.parallel_config.worker_extension_cls = WORKER
    own = {key: value for key, value in method.settings().items() if key != "retention_ratio"}
    kept = f"{100 * (1 - rate):.4g}% of every video's tokens"
    if image_rate:
        kept += f" and {100 * (1 - image_rate):.4g}% of every image's"
    _LOG.info("GleanVID keeps %s, with the settings %s", kept, own)


def _given(additional: Any) -> Any:
    """Return the method in ``--additional-config``; raises ``ValueError`` for a misspelt key."""
    if not isinstance(additional, Mapping):
        return None
    known = (KEY, PLUGIN, IMAGES)
    for key in additional:
        close = get_close_matches(str(key).casefold(), known, 1, cutoff=0.75)
        if close and key not in known:
            raise ValueError(f"--additional-config has {key!r}: write {close[0]!r}")
    if IMAGES in additional and additional.get(KEY) is None:
        raise ValueError(f'{IMAGES} needs a method: name one as "{KEY}" in --additional-config')
    return additional.get(KEY)


def _image_rate(given: Any) -> float:
    """Return the fraction of an image's tokens to drop; ``ValueError`` if it is not in [0, 1)."""
    if isinstance(given, bool) or not isinstance(given, int | float) or not 0 <= given < 1:
        raise ValueError(
            f"{IMAGES}={given!r} in --additional-config must be a number of at least 0 and below "
            "1: the fraction of every image's tokens to drop"
        )
    return float(given)


def method_of(hf_config: Any) -> Compressor | None:
    """Return the method that :func:`take_settings` stored; None if it stored none."""
    settings = getattr(hf_config, "gleanvid", None)
    if settings is None:
        return None
    if settings["name"] not in COMPRESSORS:  # the plug-in is not loaded in this process yet
        plugins.load(hf_config.gleanvid_plugin)
    return from_settings(settings)


def prune_on_cpu() -> None:
    """Enable pruning in vLLM's model runner for CPUs.

    vLLM 0.32 does not set ``is_multimodal_pruning_enabled`` on CPUs. Its runner then leaves the
    columns that hold positions in the embeddings, and these are too wide for the model.
    """
    from vllm.platforms import current_platform

    if not current_platform.is_cpu():
        return
    from vllm.v1.worker.cpu_model_runner import CPUModelRunner

    original = CPUModelRunner.load_model
    if getattr(original, "asks_for_pruning", False):
        return

    @functools.wraps(original)
    def load_model(self: Any, *args: Any, **kwargs: Any) -> None:
        original(self, *args, **kwargs)
        config = self.model_config.multimodal_config
        self.is_multimodal_pruning_enabled = bool(config and config.is_multimodal_pruning_enabled())

    load_model.asks_for_pruning = True  # type: ignore[attr-defined]
    CPUModelRunner.load_model = load_model
