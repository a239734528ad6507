"""Compression records and cost of the latest prefill, as yielded by ``compressing()``."""

from __future__ import annotations

from dataclasses import dataclass, field

from gleanvid.types import Compression

Rows = list[list[Compression]]  # one list per prompt of the batch, one record per video
Records = Compression | list[Compression] | list[list[Compression]]  # see Prefill.by_layer


@dataclass(eq=False)
class Prefill:
    """The compression records of the latest prefill, on the model's device, and its cost.

    Args:
        stages: layer of a compression stage -> one list of records per prompt of the batch, with
            one record per video. Layer 0 stands for the stage before the language model.
        prompt_tokens: length of each prompt before compression, without padding.
        prompt_tokens_kept: length of each prompt that enters layer 0, without padding.
        compress_s: seconds of all stages together, measured when the device has finished.
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
        """Layer of a stage -> its compression records.

        One prompt with one video gives a single record. Otherwise it is a list by prompt or by
        video, or, for several prompts with several videos, a list of lists.
        """
        return {layer: _unwrapped(rows) for layer, rows in self.stages.items()}

    @property
    def compression(self) -> Records:
        """The records of the first stage, shaped as in :attr:`by_layer`.

        Raises ``ValueError`` if no video was compressed yet.
        """
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
