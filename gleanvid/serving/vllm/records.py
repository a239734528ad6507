"""The latest records of a running engine: grid and kept tokens of each video.

An engine does not know its clients. A video is identified by the ``uuid`` of its request (a field
of vLLM), which reaches the model as :func:`digest`.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

from torch import Tensor

from gleanvid.serving.vllm.positions import Grid

KEPT = 64  # records in memory; one of 8000 kept tokens takes 64 kB
FIELD = "gleanvid_digest"  # name of the digest among a video's inputs
DIGEST = 32  # bytes of a digest


def digest(uuid: str | None) -> list[int]:
    """Return the SHA-256 of a uuid as 32 numbers, zeros for None."""
    return list(bytes(DIGEST) if uuid is None else sha256(uuid.encode()).digest())


@dataclass(frozen=True, eq=False)
class _Record:
    number: int
    grid: Grid
    keep: Tensor
    digest: Sequence[int]


class Records:
    """Records in the order in which the engine made them, numbered from 1."""

    def __init__(self) -> None:
        self._latest: deque[_Record] = deque(maxlen=KEPT)
        self._count, self._seconds = 0, 0.0

    def add(self, grid: Grid, keep: Tensor, name: Sequence[int] = (), seconds: float = 0.0) -> None:
        """Add a record; ``keep`` int64 [K] stays on its device until it is read.

        ``name``: a digest. ``seconds``: how long the choice held the engine's thread, without
        waiting for kernels that a GPU has queued.
        """
        self._count += 1
        self._seconds += seconds
        self._latest.append(_Record(self._count, grid, keep, tuple(name)))

    def since(self, number: int, uuid: str | None = None) -> list[dict[str, Any]]:
        """Return records after ``number`` as JSON values: all, or those of ``uuid``."""
        name = tuple(digest(uuid))
        return [
            {"number": one.number, "grid": list(one.grid), "keep": one.keep.tolist()}
            | ({} if uuid is None else {"uuid": uuid})
            for one in self._latest
            if one.number > number and (uuid is None or one.digest == name)
        ]

    @property
    def count(self) -> int:
        """Number of records so far."""
        return self._count

    @property
    def seconds(self) -> float:
        """Time that the engine's thread spent choosing, for all records."""
        return self._seconds


class WorkerRecords:
    """Extension of vLLM's workers: vLLM makes it a base class, and calls its methods by name."""

    model_runner: Any

    def gleanvid_records(self, since: int, uuid: str | None = None) -> dict[str, Any]:
        """Return the method, count and seconds of all records, and :meth:`Records.since`."""
        model = self.model_runner.get_model()
        records: Records = model.records
        return {
            "method": model.config.gleanvid,
            "count": records.count,
            "seconds": records.seconds,
            "records": records.since(since, uuid),
        }
