"""GleanVID in stock vLLM: a plug-in that vLLM finds by itself once both are installed.

vLLM calls :func:`register` in each of its processes. From then on these models prune videos by a
method of GleanVID if the server was started with a rate (``--video-pruning-rate``, the fraction to
drop) and a method (``--additional-config '{"gleanvid": "gleanvid"}'``). Without the latter, vLLM
prunes by its own methods.
"""

from __future__ import annotations

SCHEME = "vllm:"  # prefix of a server's address in place of a model's name

MODELS = {  # architecture in a checkpoint -> the class in ``gleanvid.serving.vllm.models``
    "Qwen3VLForConditionalGeneration": "Qwen3VL",
    "Qwen3VLMoeForConditionalGeneration": "Qwen3VLMoe",
    "Qwen3_5ForConditionalGeneration": "Qwen35",
    "Qwen3_5MoeForConditionalGeneration": "Qwen35Moe",
    "Qwen2_5_VLForConditionalGeneration": "Qwen25VL",
}


def register() -> None:
    """Register our classes in place of vLLM's own, by name: vLLM imports the one it needs."""
    from vllm import ModelRegistry

    from gleanvid.serving.vllm.start import check_at_start, prune_on_cpu

    for architecture, name in MODELS.items():
        ModelRegistry.register_model(architecture, f"gleanvid.serving.vllm.models:{name}")
    for architecture in ModelRegistry.get_supported_archs():
        check_at_start(architecture)  # for every model, to refuse unsupported ones
    prune_on_cpu()
