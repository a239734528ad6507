"""Base classes of methods with an optional second stage inside the language model."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass

from gleanvid.compressors.base import Compressor, setting
from gleanvid.compressors.settings import exact_on_average_setting, num_layers_setting
from gleanvid.compressors.shared.depth import rows_ahead, rows_for_average
from gleanvid.types import VideoTokens


class TwoStage(Compressor):
    """Base of compressors that, with ``inner``, also act inside the language model.

    Each method declares the settings ``inner``, ``layer`` and ``num_layers`` with the authors'
    values, and ``exact``.
    """

    inner: bool
    layer: int
    num_layers: int
    exact: bool

    @abstractmethod
    def inner_kind(self) -> type[InnerStage]:
        """Return the class of the compressor that acts inside the language model."""

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

    @property
    def stages(self) -> tuple[tuple[int, Compressor], ...]:
        if not self.inner:
            return ((0, self),)
        settings = self.retention_ratio, self.layer, self.num_layers, self.inner_share, self.exact
        return (0, self), (self.layer, self.inner_kind()(*settings))


@dataclass(frozen=True)
class InnerStage(Compressor):
    """Base of the second stages.

    With ``exact`` a stage keeps so many tokens that the average over the layers, those before the
    stage included, is ``retention_ratio``. Without ``exact`` it keeps the fraction ``share``.
    """

    layer: int = setting(
        18, "Language-model layer before which tokens are dropped", low=1, high=127, step=1
    )
    num_layers: int = num_layers_setting()
    share: float = setting(0.5, "Fraction of tokens to keep", low=0.0, high=1.0, above_low=True)
    exact: bool = exact_on_average_setting()

    def exact_count(self, tokens: VideoTokens, method: str) -> int:
        """Return how many tokens to keep with ``exact``. ``method``: name for error messages."""
        total, rows = tokens.num_units * tokens.tokens_per_unit, len(tokens)
        ratio, layer, depth = self.retention_ratio, self.layer, self.num_layers
        return rows_for_average(total, rows, ratio, layer, depth, method)
