"""Base class of methods with an optional second stage inside the language model."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import replace
from typing import Any, Self

from gleanvid.compressors.base import Compressor
from gleanvid.ops.depth import rows_ahead, scale_layer
from gleanvid.types import VideoTokens


class TwoStage(Compressor):
    """Base of compressors that, with ``inner``, also act inside the language model.

    Each method declares the settings ``inner``, ``layer`` and ``num_layers`` with the authors'
    values. For language models of another depth, ``layer`` is scaled by ``scale_layer``.
    """

    inner: bool
    layer: int
    num_layers: int

    @abstractmethod
    def inner_stage(self) -> Compressor:
        """Return the compressor that acts inside the language model."""

    @property
    @abstractmethod
    def inner_share(self) -> float:
        """Fraction of its input tokens that the inner stage keeps."""

    def outer_budget(self, tokens: VideoTokens) -> int:
        """Return how many visual tokens the stage before the model keeps.

        With ``inner`` the average over the model's layers is then ``retention_ratio``, because the
        inner stage keeps only the fraction ``inner_share`` from layer ``layer`` on.
        """
        if not self.inner:
            return self.budget(tokens)
        layers, before = self.num_layers, self.layer
        return rows_ahead(len(tokens), self.retention_ratio, before, layers, self.inner_share)

    def at_depth(self, num_layers: int) -> Self:
        layer = scale_layer(self.layer, num_layers, self.num_layers)
        changes: dict[str, Any] = {"layer": layer, "num_layers": num_layers}
        return replace(self, **changes)

    @property
    def stages(self) -> tuple[tuple[int, Compressor], ...]:
        if not self.inner:
            return ((0, self),)
        return (0, self), (self.layer, self.inner_stage())
