"""GleanVID in stock vLLM: a plug-in that vLLM finds by itself once both are installed.

vLLM calls :func:`register` in every one of its processes. From then on these models prune videos by
one of our methods where the server was started with a rate (``--video-pruning-rate``, the share
that goes) and a method (``--additional-config '{"gleanvid": "gleanvid"}'``); without the latter
vLLM's own methods stay in charge.
"""

from __future__ import annotations

SCHEME = "vllm:"  # ahead of a server's address where a model's name is asked for

MODELS = {  # architecture in a checkpoint -> the class in ``gleanvid.serving.vllm.models``
    "Qwen3VLForConditionalGeneration": "Qwen3VL",
    "Qwen3VLMoeForConditionalGeneration": "Qwen3VLMoe",
    "Qwen3_5ForConditionalGeneration": "Qwen35",
    "Qwen3_5MoeForConditionalGeneration": "Qwen35Moe",
    "Qwen2_5_VLForConditionalGeneration": "Qwen25VL",
}


def register() -> None:
    """Put our classes in the place of vLLM's own, by name: each is imported where it is used."""
    from vllm import ModelRegistry

    from gleanvid.serving.vllm.start import check_at_start, prune_on_cpu

    for architecture, name in MODELS.items():
        ModelRegistry.register_model(architecture, f"gleanvid.serving.vllm.models:{name}")
    for architecture in ModelRegistry.get_supported_archs():
        check_at_start(architecture)  # of every model: one that we do not serve is refused
    prune_on_cpu()
