"""Base class of methods with an optional second stage inside the language model."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import replace
from typing import Any, Self

from gleanvid.compressors.base import Compressor
from gleanvid.ops.depth import rows_ahead, scale_layer
from gleanvid.types import VideoTokens


class TwoStage(Compressor):
    """A method before the model that, with ``inner``, also acts before ``layer``.

    The settings ``inner``, ``layer`` and ``num_layers`` are declared by the method itself, with the
    authors' values; on a model of another depth the layer keeps its relative place.
    """

    inner: bool
    layer: int
    num_layers: int

    @abstractmethod
    def inner_stage(self) -> Compressor:
        """The stage inside the language model."""

    @property
    @abstractmethod
    def inner_share(self) -> float:
        """Fraction of the rows before the model that the inner stage keeps."""

    def outer_budget(self, tokens: VideoTokens) -> int:
        """Return the rows to leave before the model, so that both stages average to the ratio."""
        if not self.inner:
            return self.budget(tokens)
        layers, before = self.num_layers, self.layer
        return rows_ahead(len(tokens), self.retention_ratio, before, layers, self.inner_share)

    def at_depth(self, num_layers: int) -> Self:
        """The same method for a model of another depth."""
        layer = scale_layer(self.layer, num_layers, self.num_layers)
        changes: dict[str, Any] = {"layer": layer, "num_layers": num_layers}
        return replace(self, **changes)

    @property
    def stages(self) -> tuple[tuple[int, Compressor], ...]:
        if not self.inner:
            return ((0, self),)
        return (0, self), (self.layer, self.inner_stage())
