"""Compression records and cost of the latest prefill, as yielded by ``compressing()``."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from gleanvid.types import Compression

if TYPE_CHECKING:
    from torch import Tensor

Rows = list[list[Compression]]  # one list per prompt of the batch, one record per video


@dataclass(eq=False)
class Prefill:
    """The compression records of the latest prefill, on the model's device, and its cost.

    Args:
        stages: layer of a compression stage -> one list of records per prompt of the batch, with
            one record per video. Layer 0 stands for the stage before the language model.
        prompt_tokens: length of each prompt before compression, without padding.
        prompt_tokens_kept: length of each prompt that enters layer 0, without padding.
        prompt_keep: for each prompt int64, ascending: the columns of ``input_ids`` that enter layer
            0, in the order of the outputs. Those of a padded row follow or precede its padding.
        compress_s: seconds of all stages together, measured when the device has finished.
    """

    stages: dict[int, Rows] = field(default_factory=dict)
    prompt_tokens: list[int] = field(default_factory=list)
    prompt_tokens_kept: list[int] = field(default_factory=list)
    prompt_keep: list[Tensor] = field(default_factory=list)
    compress_s: float = 0.0

    def __repr__(self) -> str:
        return f"Prefill({self.stages or 'no prompt with a video yet'})"

    @property
    def compressions(self) -> Rows:
        """Compression records of the first stage: for each prompt a list, one record a video.

        Raises ``ValueError`` if no video was compressed.
        """
        if not self.stages:
            raise ValueError(
                "nothing was compressed: no prompt with a video was read yet, or the compressor is "
                'None, which keeps no record (take "full")'
            )
        return self.stages[min(self.stages)]

    @property
    def compression(self) -> Compression:
        """Compression record of the first stage, for one prompt with one video.

        Raises ``ValueError`` for several prompts or videos, and if no video was compressed.
        """
        rows = self.compressions
        if [len(videos) for videos in rows] != [1]:
            counts = " and ".join(str(len(videos)) for videos in rows)
            raise ValueError(
                f"{len(rows)} prompts with {counts} videos were compressed: take "
                "record.compressions[prompt][video]"
            )
        return rows[0][0]

    def clear(self) -> None:
        self.stages.clear()
        self.prompt_tokens, self.prompt_tokens_kept, self.prompt_keep = [], [], []
        self.compress_s = 0.0
