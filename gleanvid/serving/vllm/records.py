"""The latest compression records of a running engine, one for each video or pruned image.

A record has the token grid and the indices of the kept tokens. The engine does not know its
clients. A client finds the record of a video or image by the ``uuid`` in its request (a field of
vLLM). The model receives the :func:`digest` of the uuid.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

from torch import Tensor

from gleanvid.serving.vllm.positions import Grid

KEPT = 64  # maximum number of records in memory; one of 8000 kept tokens takes 64 kB
FIELD = "gleanvid_digest"  # key of the digest among a video's or image's model inputs
DIGEST = 32  # size of a digest in bytes


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
    """The latest ``KEPT`` compression records, numbered from 1 in the order of their creation."""

    def __init__(self) -> None:
        self._latest: deque[_Record] = deque(maxlen=KEPT)
        self.count = 0
        self.seconds = 0.0  # total seconds that the engine's thread spent choosing tokens

    def add(self, grid: Grid, keep: Tensor, name: Sequence[int] = (), seconds: float = 0.0) -> None:
        """Add a record. ``keep`` int64 [K]: indices of the kept tokens, left on their device.

        ``name``: digest of the uuid of the video or image. ``seconds``: time that the engine's
        thread took to choose the tokens; GPU kernels may still be running after that.
        """
        self.count += 1
        self.seconds += seconds
        self._latest.append(_Record(self.count, grid, keep, tuple(name)))

    def since(self, number: int, uuid: str | None = None) -> list[dict[str, Any]]:
        """Return the records numbered above ``number`` as JSON values.

        With ``uuid``, return only the records of the video or image with this uuid.
        """
        name = tuple(digest(uuid))
        return [
            {"number": one.number, "grid": list(one.grid), "keep": one.keep.tolist()}
            | ({} if uuid is None else {"uuid": uuid})
            for one in self._latest
            if one.number > number and (uuid is None or one.digest == name)
        ]


class WorkerRecords:
    """Worker extension: vLLM makes this a base class of its worker, and calls methods by name."""

    model_runner: Any

    def gleanvid_records(self, since: int, uuid: str | None = None) -> dict[str, Any]:
        """Return the method and the compression records of this worker's engine.

        "method": the method's settings; "count": number of records so far; "seconds": total time
        spent choosing tokens; "records": the records numbered above ``since``. If ``uuid`` is
        given, only the records of that video or image are returned.
        """
        model = self.model_runner.get_model()
        records: Records = model.records
        return {
            "method": model.config.gleanvid,
            "count": records.count,
            "seconds": records.seconds,
            "records": records.since(since, uuid),
        }
