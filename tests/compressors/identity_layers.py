"""A language model whose layers change nothing: it only runs a method's stages at their layers."""

from collections.abc import Callable
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from gleanvid.types import Compression, VideoTokens

# (stage, flat indices of the rows left, record so far) -> attention [heads, R, rows]
AttentionRows = Callable[[int, Tensor, Compression | None], Tensor]


@dataclass(frozen=True)
class Passage:
    """Result of a pass: the composed record, each stage's record, rows entering each layer."""

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
    """Run every stage on the rows that the earlier stages left."""
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
