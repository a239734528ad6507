"""Checkpoints that can be loaded, and whether they fit this machine."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from gleanvid.models.loading.precision import AUTO
from gleanvid.models.loading.registry import checkpoint, first_choice

from ..work.local import BUILT_IN

HERE = "in the cache"


@dataclass(frozen=True)
class Offer:
    """A model checkpoint in the page's list."""

    name: str
    size_gb: float | None  # bfloat16 weights, 10^9 bytes; None if only the hub knows
    state: str  # part of the label, such as "in the cache, fits this machine"
    fits: bool | None  # whether it fits the memory of this machine; None if unknown
    here: bool  # whether all files are on this machine already
    gated: bool
    licence: str
    first: bool  # whether it is the recommended model for this hardware

    @property
    def label(self) -> str:
        size = [f"{self.size_gb:.1f} GB"] if self.size_gb and not self.here else []
        parts = [*size, self.state, "gated" if self.gated else "", self.licence]
        text = f"{self.name} · {' · '.join(part for part in parts if part)}"
        return f"{text} · start with this one" if self.first else text


def offers(names: Iterable[str], frames: int, device: str | None = None) -> Iterator[Offer]:
    """Yield the ``Offer`` of each name for the page's list of models, without network requests.

    Reads memory and disk, so it takes milliseconds; the first call imports torch.
    """

    from gleanvid.models.loading.fit import check_fit, memory
    from gleanvid.models.loading.hub import cached

    available = memory(device)
    best = first_choice(available.gpu_gb)
    for name in names:
        row, here = checkpoint(name), name == BUILT_IN or cached(name) is not None
        if row is None:
            yield Offer(name, None, HERE if here else "", None, here, False, "", False)
            continue
        found = check_fit(row.parameters or row.size, AUTO, frames, available)
        state = f"{HERE}, {found.text}" if here and name != BUILT_IN else found.text
        terms = row.gated, row.licence
        yield Offer(name, row.weights_gb, state, found.ok, here, *terms, name == best)
