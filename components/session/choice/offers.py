"""The rows of the model menu: what can be chosen, and whether this machine can hold it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from gleanvid.models.loading.registry import checkpoint, first_choice

from ..work.local import BUILT_IN

HERE = "in the cache"


@dataclass(frozen=True)
class Offer:
    """One row. ``fits`` is None where it is not known; ``state`` says it in words."""

    name: str
    size_gb: float | None  # to download; None: only the hub knows
    needed_gb: float | None  # memory at the precision and frames asked for
    state: str
    fits: bool | None
    here: bool  # nothing to download
    gated: bool
    licence: str
    first: bool  # the one to begin with on this hardware

    @property
    def label(self) -> str:
        """The row as a line of a menu."""
        size = [f"{self.size_gb:.1f} GB"] if self.size_gb and not self.here else []
        parts = [*size, self.state, "gated" if self.gated else "", self.licence]
        text = f"{self.name} · {' · '.join(part for part in parts if part)}"
        return f"{text} · start with this one" if self.first else text


def offers(
    names: Iterable[str], precision: str, frames: int, device: str | None = None
) -> Iterator[Offer]:
    """Rows for these names; asks no other host.

    Looks at memory and disk, so it takes milliseconds and, for the first time, loads torch.
    """
    from gleanvid.models.loading.needs import fit

    from gleanvid.models.loading.fit import memory
    from gleanvid.models.loading.hub import cached

    there = memory(device)
    best = first_choice(there.gpu_gb)
    for name in names:
        row, here = checkpoint(name), name == BUILT_IN or cached(name) is not None
        if row is None:
            yield Offer(name, None, None, HERE if here else "", None, here, False, "", False)
            continue
        found = fit(row.parameters or row.size, precision, frames, there)
        state = f"{HERE}, {found.text}" if here and name != BUILT_IN else found.text
        facts = (found.needed_gb, state, found.ok, here, row.gated, row.licence)
        yield Offer(name, row.weights_gb, *facts, name == best)
