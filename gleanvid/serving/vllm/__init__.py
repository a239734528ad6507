"""GleanVID in stock vLLM: a plug-in that vLLM finds by itself once both are installed.

vLLM calls :func:`register` in each of its processes. From then on the models in ``MODELS`` prune
videos by a method of GleanVID if the server was started with a rate (``--video-pruning-rate``, the
fraction of tokens to drop) and a method (``--additional-config '{"gleanvid": "gleanvid"}'``).
Without a method of GleanVID, vLLM prunes by its own method. Images are pruned, too, if
``--additional-config`` has a ``gleanvid_image_pruning_rate``.
"""

from __future__ import annotations

import os
import re

from gleanvid.errors import ModelError

SCHEME = "vllm:"  # prefix of a model name that is an address, as in vllm:http://host:port

MODELS = {  # architecture in a checkpoint -> the class in ``gleanvid.serving.vllm.models``
    "Qwen3VLForConditionalGeneration": "Qwen3VL",
    "Qwen3VLMoeForConditionalGeneration": "Qwen3VLMoe",
    "Qwen3_5ForConditionalGeneration": "Qwen35",
    "Qwen3_5MoeForConditionalGeneration": "Qwen35Moe",
    "Qwen2_5_VLForConditionalGeneration": "Qwen25VL",
}

# Without a user, a query or a fragment; an IPv6 address stands in brackets.
_ADDRESS = re.compile(
    r"https?://(\[[0-9a-f:.]+\]|[^\s/@?#:\[\]]+)(:[0-9]+)?(/[^\s?#]*)?", re.IGNORECASE
)

_with_key: set[str] = set()  # addresses of the servers that get the API key


def addresses(name: str) -> list[str]:
    """Return the addresses in a model name such as ``vllm:http://host:port,http://...``.

    ``http://`` is added where it is missing, and a ``/v1`` at the end is dropped.
    """
    parts = [part.strip().rstrip("/") for part in name.strip().removeprefix(SCHEME).split(",")]
    bare = [part.removesuffix("/v1") for part in parts]
    return [part if "://" in part else f"http://{part}" for part in bare]


def checked_addresses(name: str) -> list[str]:
    """Return :func:`addresses`; raises ``ModelError`` if one is not like ``http://host:port``."""
    found = addresses(name)
    if not all(_ADDRESS.fullmatch(address) for address in found):
        raise ModelError("the address of a vLLM server looks like http://host:port")
    return found


def send_key_to(name: str) -> None:
    """Send ``VLLM_API_KEY`` to the servers in a model name from now on; other names do nothing.

    Call this for names from the command line alone: a visitor of the app may type the address of a
    server that collects keys.
    """
    if name.startswith(SCHEME):
        _with_key.update(checked_addresses(name))


def key_for(address: str) -> str:
    """Return the API key for a server; "" if it gets none."""
    return os.environ.get("VLLM_API_KEY", "").strip() if address in _with_key else ""


def register() -> None:
    """Register GleanVID's model classes with vLLM by name, in place of vLLM's own."""
    from vllm import ModelRegistry

    from gleanvid.serving.vllm.start import check_at_start, prune_on_cpu

    for architecture, name in MODELS.items():
        ModelRegistry.register_model(architecture, f"gleanvid.serving.vllm.models:{name}")
    for architecture in ModelRegistry.get_supported_archs():
        # Architectures outside MODELS are checked, too: the check refuses GleanVID's options there.
        check_at_start(architecture)
    prune_on_cpu()
