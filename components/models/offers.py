"""Labels of the checkpoints that can be loaded: size, licence, and whether they fit."""

from __future__ import annotations

import re
from collections.abc import Iterable

from gleanvid.models.loading.precision import AUTO, with_precision
from gleanvid.models.loading.registry import checkpoint, first_choice

from ..jobs.display import short_name
from ..jobs.local import BUILT_IN, PHOTOS, is_here
from ..jobs.recorded import PREFIX

HERE = "in the cache"
PLAIN = re.compile("-(Video-)?Instruct$")  # end of a name that the label leaves out


def recommended(device: str | None = None) -> tuple[str, str]:
    """Return the model to start with on this machine, and a line that says why.

    It is the largest of ``FIRST_CHOICES`` that fits into the free memory of the GPU with the frames
    of a clip and their cache; the smallest without a GPU.
    """
    found, free_gb = gpu(device)
    name = first_choice(free_gb)
    row = checkpoint(name)
    facts = [f"{row.weights_gb:.1f} GB", row.licence] if row else []
    return name, f"{found or 'No GPU'}: start with {', '.join([name, *facts])}"


def gpu(device: str | None = None) -> tuple[str, float]:
    """Return the name of the GPU with its free memory, and that memory in GB; "" and 0 without."""
    import torch

    from gleanvid.models.loading.fit import memory

    there = memory(device)
    if there.device != "cuda":
        return "", 0.0
    free_gb = (there.free or 0) / 1e9
    return f"{torch.cuda.get_device_name(device)}, {free_gb:.0f} GB free", free_gb


def to_ask(loaded: Iterable[str], frames: int, device: str | None = None) -> tuple[str, str]:
    """Return the label of the button that gets a model to answer questions, and its name.

    It is a Video LLM of ``loaded``, the models in the menu, or else the recommended checkpoint. The
    label names the GPU and the licence; on a CPU, the estimated seconds that an answer takes.
    """
    from gleanvid.models.loading.fit import answer_s, memory

    others = (BUILT_IN, PHOTOS)
    if name := next((n for n in loaded if n not in others and not n.startswith(PREFIX)), ""):
        return f"Ask with {short_name(name)}", name
    found, free_gb = gpu(device)
    name = first_choice(free_gb)
    row = checkpoint(name)
    facts = [HERE if is_here(name) or not row else f"{row.weights_gb:.1f} GB"]
    if row and found:
        facts.append(row.licence)
    elif row and memory(device).device == "cpu":
        facts.append(f"about {answer_s(row.size, frames):.0f} s an answer here")
    load = f"Load {PLAIN.sub('', short_name(name)).replace('-', ' ')} ({', '.join(facts)})"
    return f"{found}: {load[0].lower()}{load[1:]}" if found else load, name


def offers(names: Iterable[str], frames: int, device: str | None = None) -> list[tuple[str, str]]:
    """Return (label, name) of each checkpoint, the recommended one first and too large ones last.

    Reads memory and disk, but sends no request. A checkpoint that fits only with weights in 4 bits
    is returned as ``NAME@4bit``.
    """
    from gleanvid.models.loading.fit import check_fit, memory

    available = memory(device)
    best = first_choice(available.gpu_gb)
    rows = []
    for name in names:
        row, parts, is_too_large = checkpoint(name), [name], False
        if is_here(name) and name != BUILT_IN:
            parts.append(HERE)
        elif row and name != BUILT_IN:
            parts.append(f"{row.weights_gb:.1f} GB")
        if row:
            fit = check_fit(row.parameters or row.size, AUTO, frames, available)
            parts += [fit.text, *(["gated"] if row.gated else []), row.licence]
            parts += ["start with this one"] if name == best else []
            is_too_large = fit.ok is False
            name = with_precision(name, "4bit") if fit.text.endswith("4-bit") else name
        rows.append((name != best, is_too_large, " · ".join(filter(None, parts)), name))
    return [row[2:] for row in sorted(rows, key=lambda row: row[:2])]
