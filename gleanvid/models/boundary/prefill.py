"""Records and cost of the latest prefill, as returned by ``compressing()``."""

from __future__ import annotations

from dataclasses import dataclass, field

from gleanvid.types import Compression

Rows = list[list[Compression]]  # one list per batch row, one record per video in it
Records = Compression | list[Compression] | list[list[Compression]]  # see Prefill.by_layer


@dataclass(eq=False)
class Prefill:
    """The compressions of the latest prefill, on the model's device.

    ``stages``: records by layer, per row of the batch and per video. ``prompt_tokens`` and
    ``prompt_tokens_kept``: prompt lengths per row before and after the stage at layer 0,
    without padding. ``compress_s``: seconds of all stages together, after device sync.
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
        """Records by layer: a single record, or a list by row of the batch, by video, or both."""
        return {layer: _unwrapped(rows) for layer, rows in self.stages.items()}

    @property
    def compression(self) -> Records:
        """Records of the first stage. Raises ``ValueError`` if no video was compressed yet."""
        if not self.stages:
            raise ValueError(
                "nothing was compressed yet: the model has not run a prompt with a video"
            )
        return _unwrapped(self.stages[min(self.stages)])

    def clear(self) -> None:
        self.stages.clear()
        self.prompt_tokens, self.prompt_tokens_kept, self.compress_s = [], [], 0.0


def _unwrapped(rows: Rows) -> Records:
    several = any(len(videos) != 1 for videos in rows)
    records = rows if several else [videos[0] for videos in rows]
    return records[0] if len(rows) == 1 else records
