"""How much each visual token matters for one answer, and how much of that a compression keeps."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from statistics import fmean
from typing import TYPE_CHECKING, Any

import torch

from gleanvid.types import Compression

if TYPE_CHECKING:
    from torch import Tensor


@dataclass(frozen=True, eq=False)
class Relevance:
    """Relevance of every visual token of a clip for one answer.

    It measures how a model uses its input, not whether the answer is true.

    Args:
        tokens: float32 [L] on the CPU, at least 0, sum 1.
        grid: (T, rows, columns) of the tokens.
        question: the question about the clip.
        answer: the answer whose probability was measured.
        log_probability: natural logarithm of the probability of that answer and its end token,
            with all visual tokens.
        method: how it was measured: "gradient", "occlusion" or "attention".
        seconds: wall clock of the measurement; encoding and answering are left out.
        words: each word of the answer with the relevance [L] for that word alone.

    >>> found = relevance("assets/clips/glimpse_1.mp4", "What moves?", num_frames=4)
    >>> found.grid, round(float(found.tokens.sum()), 3), list(found.units.shape)
    ((2, 10, 10), 1.0, [2])
    """

    tokens: Tensor
    grid: tuple[int, int, int]
    question: str
    answer: str
    log_probability: float
    method: str
    seconds: float
    words: tuple[tuple[str, Tensor], ...] = ()

    @property
    def units(self) -> Tensor:
        """float32 [T]: relevance of each temporal unit."""
        return self.tokens.view(self.grid[0], -1).sum(1)

    def kept(self, compression: Compression) -> float:
        """Return the fraction of the relevance that a compression keeps.

        The relevance of each token is multiplied by its weight in the kept rows, at most 1. So a
        row that is the mean of n tokens keeps the mean of their relevance.

        Args:
            compression: record of one stage, or of all stages together (``whole_record``).

        Returns:
            A fraction in [0, 1], at most ``best(compression.num_kept)`` if the weights of a row
            sum to 1.

        Raises:
            TypeError: ``compression`` is not one record, but for example a list of records.
            ValueError: the record has another number of tokens.
        """
        if not isinstance(compression, Compression):
            kind = type(compression).__name__
            raise TypeError(f"compression must be one record such as run.compression, not {kind}")
        if compression.num_tokens != len(self.tokens):
            raise ValueError(
                f"the record has {compression.num_tokens} tokens, but relevance was measured for "
                f"{len(self.tokens)}"
            )
        return float((self.tokens * token_weights(compression.to("cpu"))).sum())

    def best(self, num_kept: int) -> float:
        """Return the largest fraction of the relevance that ``num_kept`` tokens can keep."""
        most = min(max(num_kept, 0), len(self.tokens))
        return float(self.tokens.topk(most).values.sum())

    def random(self, num_kept: int) -> float:
        """Return the fraction of the relevance that ``num_kept`` random tokens keep on average."""
        return min(1.0, num_kept / len(self.tokens))

    def kept_with_bounds(self, compression: Compression) -> dict[str, float]:
        """Return the fraction of the relevance that a compression keeps, with two bounds.

        The bounds are the fractions that the best tokens and random tokens would keep, if they were
        as many as the compression keeps.

        Args:
            compression: record of one stage, or of all stages together (``whole_record``).

        Returns:
            Fractions named "kept", "best" and "random".

        Raises:
            ValueError: the record has another number of tokens.
        """
        count = compression.num_kept
        bounds = {"best": self.best(count), "random": self.random(count)}
        return {"kept": self.kept(compression)} | bounds

    def kept_over_layers(
        self, by_layer: Mapping[int, Compression], num_layers: int
    ) -> dict[str, float]:
        """Return the means over all layers of :meth:`kept_with_bounds` for what each layer sees.

        Tokens that are dropped inside the language model count in the layers that read them, as
        they do in a retention ratio.

        Args:
            by_layer: records by the layer from which on they hold, such as ``run.by_layer``.
            num_layers: number of layers of the language model,
                ``len(run.cost.visual_tokens_by_layer)``.

        Returns:
            Fractions named "kept", "best" and "random".

        Raises:
            ValueError: a record has another number of tokens.
        """
        whole, found = None, []
        seen = {"kept": 1.0, "best": 1.0, "random": 1.0}
        for layer in range(max(num_layers, 1)):
            if record := by_layer.get(layer):
                whole = whole.then(record) if whole else record
                seen = self.kept_with_bounds(whole)
            found.append(seen)
        return {name: fmean(one[name] for one in found) for name in seen}

    def summary(self) -> dict[str, Any]:
        """Return all fields except the relevance maps, ready for JSON."""
        return {
            "question": self.question,
            "answer": self.answer,
            "log_probability": self.log_probability,
            "method": self.method,
            "seconds": self.seconds,
            "grid": list(self.grid),
            "units": [round(float(value), 6) for value in self.units],
            "words": [word for word, _ in self.words],
        }


def token_weights(compression: Compression) -> Tensor:
    """float32 [L] in [0, 1]: the weight of each token in the kept rows, 0 for a dropped one."""
    if compression.mixing is None:
        weight = torch.where(compression.group >= 0, compression.weight.float(), 0.0)
    else:
        mixing = compression.mixing.coalesce()
        weight = torch.zeros(compression.num_tokens)
        weight.index_add_(0, mixing.indices()[1], mixing.values().float())
    return weight.clamp(0, 1)


def normalised(values: Tensor) -> Tensor:
    """Clip values at 0 and scale them to sum 1; all become equal if none is positive."""
    values = values.detach().to("cpu", torch.float32).clamp(min=0)
    total = float(values.sum())
    if not math.isfinite(total) or total <= 0:
        return torch.full_like(values, 1 / len(values))
    return values / total
