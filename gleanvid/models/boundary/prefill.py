"""Records and cost of the latest prefill, as returned by ``compressing()``."""

from __future__ import annotations

from dataclasses import dataclass, field

from gleanvid.types import Compression

Rows = list[list[Compression]]  # per row of the batch, per video in that row's prompt
Records = Compression | list[Compression] | list[list[Compression]]  # see Prefill.by_layer


@dataclass(eq=False)
class Prefill:
    """The compressions of the latest prefill, on the model's device.

    ``stages`` maps a layer to the records per row and per video. ``prompt_tokens`` and
    ``prompt_tokens_kept`` count per row what entered the language model without and with
    compression, padding aside. ``compress_s`` is synchronised wall clock of all stages together.
    """

    stages: dict[int, Rows] = field(default_factory=dict)
    prompt_tokens: list[int] = field(default_factory=list)
    prompt_tokens_kept: list[int] = field(default_factory=list)
    compress_s: float = 0.0

    def __repr__(self) -> str:
        stages = {layer: _unwrapped(rows) for layer, rows in self.stages.items()}
        return f"Prefill({stages or 'no prompt with a video yet'})"

    @property
    def by_layer(self) -> dict[int, Records]:
        """Layer -> record: a list per row for batches, a list per video where there are several."""
        return {layer: _unwrapped(rows) for layer, rows in self.stages.items()}

    @property
    def compression(self) -> Records:
        """The record of the first stage; ``ValueError`` before any prompt with a video."""
        if not self.stages:
            raise ValueError("nothing was compressed yet: no prompt with a video was run")
        return _unwrapped(self.stages[min(self.stages)])

    def clear(self) -> None:
        self.stages.clear()
        self.prompt_tokens, self.prompt_tokens_kept, self.compress_s = [], [], 0.0


def _unwrapped(rows: Rows) -> Records:
    several = any(len(videos) != 1 for videos in rows)
    records = rows if several else [videos[0] for videos in rows]
    return records[0] if len(rows) == 1 else records
