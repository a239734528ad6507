"""Load a model by name or directory; a ``ModelError`` explains why loading failed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from difflib import get_close_matches
from pathlib import Path
from typing import Any

import torch
from huggingface_hub.errors import HTTPError, StrictDataclassError
from safetensors import SafetensorError
from transformers import (
    AutoConfig,
    AutoModelForImageTextToText,
    AutoProcessor,
    MobileNetV2ForImageClassification,
)
from transformers.utils import logging

from gleanvid.errors import MALFORMED
from gleanvid.models.base import ModelAdapter
from gleanvid.models.families import family_of
from gleanvid.models.families.mobilenet_v2 import MobileNetV2
from gleanvid.models.generation.context import checked_max_pixels
from gleanvid.models.loading.hub import is_reachable
from gleanvid.models.loading.options import attention_of, device_of, dtype_of, quantization_config
from gleanvid.models.loading.registry import CHECKPOINTS
from gleanvid.models.measure import explaining_out_of_memory
from gleanvid.types import ModelError

BUILTIN = Path(__file__).parents[1] / "builtin"
PHOTOS = "mobilenet_v2"  # name of the encoder for filmed clips that ships with the package

# Exceptions that transformers raises for invalid sizes, names and settings in a model folder.
UNLOADABLE = (*MALFORMED, AssertionError, StrictDataclassError)


def load_model(
    name_or_path: str | Path = "builtin",
    device: str | torch.device | None = None,
    dtype: str | torch.dtype | None = None,
    *,
    attn_implementation: str | None = None,
    device_map: str | dict[str, Any] | None = None,
    quantization: str | None = None,
    max_pixels: int | None = None,
    settings: Mapping[str, Any] | None = None,
    local_files_only: bool = False,
) -> ModelAdapter:
    """Load a Video LLM: weights, processor and the adapter of its family.

    If the hub does not answer within seconds (or with ``HF_HUB_OFFLINE=1``), only the local cache
    is searched.

    Args:
        name_or_path: "builtin", a hub id, or a local directory; or "mobilenet_v2", an encoder of
            filmed clips that ships with the package and answers no questions.
        device: None: CUDA if there is one, else the CPU.
        dtype: None: bfloat16 on a GPU ("mobilenet_v2": float32), else float32.
        attn_implementation: None: FlashAttention-2 if installed, on CUDA in 16 bits; else SDPA.
        device_map: spreads a model over several devices (accelerate); excludes ``device``.
        quantization: "8bit" or "4bit" (bitsandbytes).
        max_pixels: bound on the pixels of all frames of a clip together.
        settings: settings of the checkpoint to override. Of the families of this package, only
            LLaVA-Video has some: pooling, newlines, time in the prompt.
        local_files_only: search the local cache only, send no request to the hub.

    Returns:
        The model in evaluation mode on its devices.

    Raises:
        ModelError: weights are missing, the directory is no model, its type is not supported,
            settings contradict each other or memory runs out; says what to do.
        TypeError: a model in the place of its name.
        ValueError: an unknown setting, or a value out of its range.

    >>> load_model("builtin", device="cpu").name
    'builtin'
    """
    if device is not None and device_map is not None:
        raise ModelError(
            "device and device_map cannot both be given: device_map already chooses the devices."
        )
    checked_max_pixels(max_pixels)
    if not isinstance(name_or_path, str | Path):
        raise TypeError(
            f"load_model takes a name or a folder, not {type(name_or_path).__name__}; a model that "
            "you loaded yourself goes into gleanvid.compressing"
        )
    name = str(name_or_path)
    target = device_of(device)
    if name == PHOTOS:
        others = (attn_implementation, device_map, quantization)
        if settings or any(option is not None for option in others):
            raise ModelError(f"{name} has no options but device, dtype and max_pixels.")
        return _photo_encoder(target, dtype or torch.float32, max_pixels)
    source = source_of(name)
    kind = dtype_of(dtype, target)
    options: dict[str, Any] = {
        "dtype": kind,
        "attn_implementation": attention_of(attn_implementation, target, kind),
        "device_map": device_map,
    }
    if quantization is not None:
        options["quantization_config"] = quantization_config(quantization, kind)
        options["device_map"] = device_map or {"": target}
    is_folder = Path(source).is_dir()
    cache = {"local_files_only": local_files_only or not (is_folder or is_reachable())}
    family = family_of(from_pretrained(AutoConfig, source, name, **cache), name)
    hf_model = _weights(source, name, target, options | cache)
    processor = from_pretrained(AutoProcessor, source, name, **cache)
    _check_tokenizer(getattr(processor, "tokenizer", None), name)
    model: Any = family(name, hf_model.eval(), processor, max_pixels)
    if settings:
        if not hasattr(model, "configure"):
            raise ValueError(f"settings={dict(settings)}: {name} has no settings of its own")
        model.configure(**settings)
    return model


@contextmanager
def _without_bars(source: str) -> Iterator[None]:
    """Show no progress while weights of this package are loaded, which takes a moment."""
    if Path(source).parent != BUILTIN.parent:
        yield
        return
    before = logging.set_tqdm_hook(
        lambda make, words, named: make(*words, **named | {"disable": True})
    )
    try:
        yield
    finally:
        logging.set_tqdm_hook(before)


def _photo_encoder(target: torch.device, dtype: str | torch.dtype, max_pixels: int | None) -> Any:
    """Return the encoder for filmed clips, a ``TokenModel``."""
    folder, kind = BUILTIN.with_name(PHOTOS), dtype_of(dtype, target)
    hf_model = from_pretrained(
        MobileNetV2ForImageClassification, str(folder), PHOTOS, dtype=kind, use_safetensors=True
    )
    return MobileNetV2(PHOTOS, hf_model.eval().to(target), max_pixels)


def _weights(source: str, name: str, target: torch.device, options: dict[str, Any]) -> Any:
    """Load the weights onto their devices; ``ModelError`` if some are missing or too large."""
    advice = (
        f"{name} does not fit on {target}: load a smaller model, or pass quantization='4bit' or "
        "device_map='auto'."
    )
    with explaining_out_of_memory(advice):
        hf_model, loaded = from_pretrained(
            AutoModelForImageTextToText,
            source,
            name,
            output_loading_info=True,
            use_safetensors=True,  # other formats can contain code
            **options,
        )
        if loaded["missing_keys"]:  # transformers would continue with random weights
            raise ModelError(
                f"{name} is incomplete: it lacks {len(loaded['missing_keys'])} weights."
            )
        _check_numbers(hf_model, name)
        return hf_model if options["device_map"] is not None else hf_model.to(target)


def _check_tokenizer(tokenizer: Any, name: str) -> None:
    """Raise ``ModelError`` if transformers made an empty tokenizer because files are missing."""
    if tokenizer is None or set(tokenizer.get_vocab()) <= set(tokenizer.all_special_tokens):
        raise ModelError(f"{name} is incomplete: its tokenizer is missing. Download it again.")


def _check_numbers(hf_model: Any, name: str) -> None:
    """Raise ``ModelError`` if a weight is NaN or infinite."""
    for place, weight in hf_model.named_parameters():
        if weight.is_floating_point() and not weight.is_meta and weight.numel():
            low, high = torch.aminmax(weight.detach().float())
            if not torch.isfinite(high - low):
                raise ModelError(f"{name} is damaged: {place} holds NaN or infinite numbers.")


def source_of(name: str) -> str:
    """Return what transformers should load for ``name``: a directory, or ``name`` as a hub id.

    Raises ``ModelError`` if it can be neither.
    """
    path = BUILTIN if name == "builtin" else Path(name).expanduser()
    try:
        is_folder = path.is_dir()
    except (OSError, ValueError) as error:  # path too long, or with a NUL byte
        raise ModelError(
            f"{name[:80]!r} is not the name of a model: {_first_line(error)}"
        ) from error
    if is_folder:
        if (path / "config.json").is_file():
            return str(path)
        if name == "builtin":
            raise ModelError("This installation lacks the built-in model's weights: reinstall it.")
        raise ModelError(f"{name} is not a model directory: it contains no config.json.")
    if path.exists():
        raise ModelError(f"{name} is a file; pass the directory that holds the model.")
    if "://" in name:
        raise ModelError(
            f"{name} is the address of a server. gleanvid.serving.vllm.remote.load_own takes "
            "one; here, name a model by its hub id or directory."
        )
    if name == "builtin" or name.startswith((".", "/", "~")) or name.count("/") > 1:
        raise ModelError(f"There is no directory {name}.")
    return name


def from_pretrained(loader: Any, source: str, name: str, **options: Any) -> Any:
    """Call ``loader.from_pretrained`` without remote code; its errors become ``ModelError``."""
    try:
        with _without_bars(source):
            return loader.from_pretrained(source, trust_remote_code=False, **options)
    except ImportError as error:
        raise ModelError(
            f"{name} needs a package that is not installed: {_first_line(error)}"
        ) from error
    except SafetensorError as error:
        raise ModelError(f"{name} is damaged: {error}. Download it again.") from error
    except (OSError, HTTPError) as error:  # HTTPError: broken connection
        if Path(source).is_dir():
            raise ModelError(f"{name} is incomplete or damaged: {error}") from error
        raise ModelError(
            f"The weights of {name} are not on this machine and could not be fetched. Download "
            f"them where there is a network (hf download {name} --local-dir DIR) and pass that "
            f"directory.{_suggestion(name)} ({_first_line(error)})"
        ) from error
    except torch.OutOfMemoryError:
        raise
    except UNLOADABLE as error:
        raise ModelError(f"{name} cannot be loaded: {_first_line(error)}") from error


def _suggestion(name: str) -> str:
    """Return a question that names the known model closest to a mistyped name, or ""."""
    known = [PHOTOS, *(row.name for row in CHECKPOINTS)]
    near = [] if name in known else get_close_matches(name, known, 1, cutoff=0.75)
    return f" Did you mean {near[0]!r}?" if near else ""


def _first_line(error: BaseException) -> str:
    return (str(error).strip().splitlines() or [type(error).__name__])[0]
