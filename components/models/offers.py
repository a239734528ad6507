"""Labels of the checkpoints that can be loaded: size, licence, and whether they fit."""

from __future__ import annotations

from collections.abc import Iterable

from gleanvid.models.loading.precision import AUTO, with_precision
from gleanvid.models.loading.registry import checkpoint, first_choice

from ..jobs.local import BUILT_IN, is_here

HERE = "in the cache"


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
