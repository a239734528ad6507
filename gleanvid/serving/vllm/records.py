"""The latest records of a running engine: which tokens of which grid its videos kept."""

from __future__ import annotations

from collections import deque
from typing import Any

from torch import Tensor

from gleanvid.serving.vllm.positions import Grid

KEPT = 64  # records that are remembered; one of 8000 kept tokens takes 64 kB


class Records:
    """Records in the order in which the engine made them, numbered from 1."""

    def __init__(self) -> None:
        self._latest: deque[tuple[int, Grid, Tensor]] = deque(maxlen=KEPT)
        self._count = 0

    def add(self, grid: Grid, keep: Tensor) -> None:
        """``keep`` int64 [K] stays on its device until somebody asks."""
        self._count += 1
        self._latest.append((self._count, grid, keep))

    def since(self, number: int) -> list[dict[str, Any]]:
        """Those behind ``number`` that are still remembered, ready for JSON."""
        return [
            {"number": count, "grid": list(grid), "keep": keep.tolist()}
            for count, grid, keep in self._latest
            if count > number
        ]

    @property
    def count(self) -> int:
        """How many have been made."""
        return self._count


class WorkerRecords:
    """What vLLM's workers can be asked by name; vLLM makes it a base class of theirs."""

    model_runner: Any

    def gleanvid_records(self, since: int) -> dict[str, Any]:
        """The method, how many records there are, and those behind number ``since``."""
        model = self.model_runner.get_model()
        records: Records = model.records
        return {
            "method": model.config.gleanvid,
            "count": records.count,
            "records": records.since(since),
        }
