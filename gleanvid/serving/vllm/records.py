"""The latest records of a running engine: which tokens of which grid its videos kept.

An engine knows no client. A video is told from others of its grid by the ``uuid`` that its request
gives it (a field of vLLM's own), which reaches the model as :func:`digest`.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

from torch import Tensor

from gleanvid.serving.vllm.positions import Grid

KEPT = 64  # records that are remembered; one of 8000 kept tokens takes 64 kB


FIELD = "gleanvid_digest"  # of a video's inputs
DIGEST = 32  # bytes of a digest


def digest(uuid: str | None) -> list[int]:
    """What a video of this uuid is called in the model: 32 bytes, zeros for none."""
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
        """``keep`` int64 [K] stays on its device until somebody asks; ``name``: a digest.

        ``seconds``: how long the choice held the engine's thread; what a GPU has queued by then is
        not waited for.
        """
        self._count += 1
        self._seconds += seconds
        self._latest.append(_Record(self._count, grid, keep, tuple(name)))

    def since(self, number: int, uuid: str | None = None) -> list[dict[str, Any]]:
        """Those behind ``number`` that are still remembered, ready for JSON; all, or of a uuid."""
        name = tuple(digest(uuid))
        return [
            {"number": one.number, "grid": list(one.grid), "keep": one.keep.tolist()}
            | ({} if uuid is None else {"uuid": uuid})
            for one in self._latest
            if one.number > number and (uuid is None or one.digest == name)
        ]

    @property
    def count(self) -> int:
        """How many have been made."""
        return self._count

    @property
    def seconds(self) -> float:
        """How long the engine's thread chose, for all of them together."""
        return self._seconds


class WorkerRecords:
    """What vLLM's workers can be asked by name; vLLM makes it a base class of theirs."""

    model_runner: Any

    def gleanvid_records(self, since: int, uuid: str | None = None) -> dict[str, Any]:
        """The method, how many records there are and what they took, and :meth:`Records.since`."""
        model = self.model_runner.get_model()
        records: Records = model.records
        return {
            "method": model.config.gleanvid,
            "count": records.count,
            "seconds": records.seconds,
            "records": records.since(since, uuid),
        }
