"""FullTokens: the uncompressed model, as a compressor, so that tables have a baseline row.

The language model reads every visual token. All other methods are compared with this one.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from gleanvid.compressors.base import Compressor, setting
from gleanvid.compressors.shared.records import identity_record
from gleanvid.types import Compression, VideoTokens


@dataclass(frozen=True)
class FullTokens(Compressor):
    """Keeps every token; its retention ratio is 1 and cannot be anything else.

    >>> FullTokens().compress(VideoTokens(torch.rand(24, 8), (2, 3, 4))).num_kept
    24
    """

    name: ClassVar[str] = "full"
    title: ClassVar[str] = "All tokens"
    paper: ClassVar[str] = "baseline: all visual tokens"

    retention_ratio: float = setting(
        1.0, "Retention ratio, always 1: every token is kept", low=1.0, high=1.0
    )

    def _compress(self, tokens: VideoTokens) -> Compression:
        return identity_record(tokens)
