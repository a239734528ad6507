"""A fake language model whose layers change nothing; only the compression stages act."""

from collections.abc import Callable
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from gleanvid.types import Compression, VideoTokens

# Makes up the attention that a stage reads, [heads, queries, tokens left]. Arguments: number of the
# stage, indices of the tokens left, compression record of the stage before (None if there is none).
AttentionRows = Callable[[int, Tensor, Compression | None], Tensor]


@dataclass(frozen=True)
class Passage:
    """Result of a forward pass through the fake model.

    ``record`` is the compression record of all stages together, ``by_layer`` has one per stage.
    ``rows_per_layer``: number of tokens that enter each layer. ``hidden``: the final tokens.
    """

    record: Compression
    by_layer: dict[int, Compression]
    rows_per_layer: list[int]
    hidden: Tensor

    @property
    def average(self) -> float:
        return sum(self.rows_per_layer) / len(self.rows_per_layer) / self.record.num_tokens


def pass_through(
    compressor, tokens: VideoTokens, num_layers: int, attention: AttentionRows
) -> Passage:
    """Run every compression stage on the tokens that the earlier stages left."""
    record = previous = None
    by_layer, rows_per_layer, hidden = {}, [], tokens.features
    left = torch.arange(len(tokens))
    stages = dict(compressor.stages)
    for layer in range(num_layers):
        if layer in stages:
            rows = attention(len(by_layer), left, previous) if layer else None
            text = tokens.text if layer == 0 else None
            now = replace(
                tokens,
                features=hidden,
                positions=left if layer else None,
                attention=rows,
                text=text,
                previous=previous,
                saliency=tokens.saliency if layer == 0 else None,
                keys=tokens.keys if layer == 0 else None,
            )
            previous = by_layer[layer] = stages[layer].compress(now)
            if record is None:
                record = previous
            elif previous.num_kept < len(hidden):
                record = record.then(previous)
            hidden, left = previous.apply(hidden), record.keep
        rows_per_layer.append(len(hidden))
    return Passage(record, by_layer, rows_per_layer, hidden)
