"""How much each visual token matters for one answer, and the fraction on kept tokens."""

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
        seconds: wall-clock time of the measurement, without encoding the video and answering.
        words: each word of the answer with the relevance [L] for that word alone.

    >>> found = relevance("assets/clips/glimpse_1.mp4", "What is there?", num_frames=4)
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
        """Relevance of each temporal unit, float32 [T]: the sum over its tokens."""
        return self.tokens.view(self.grid[0], -1).sum(1)

    def kept(self, compression: Compression) -> float:
        """Return the fraction of the relevance that lies on the tokens kept by a compression.

        The relevance of each token is multiplied by its weight in the output tokens, at most 1. So
        an output token that is the mean of n tokens counts with the mean of their relevance.

        Args:
            compression: compression record of one stage, or of all stages together
                (``whole_record``).

        Returns:
            A fraction in [0, 1]. It is at most ``best(compression.num_kept)`` if the weights in
            every output token sum to 1.

        Raises:
            TypeError: ``compression`` is not one record, but for example a list of records.
            ValueError: the record is of a clip with another number of tokens.
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
        """Return the fraction of the relevance on the ``num_kept`` most relevant tokens."""
        most = min(max(num_kept, 0), len(self.tokens))
        return float(self.tokens.topk(most).values.sum())

    def random(self, num_kept: int) -> float:
        """Return the fraction of the relevance on ``num_kept`` random tokens, on average."""
        return min(1.0, num_kept / len(self.tokens))

    def kept_with_bounds(self, compression: Compression) -> dict[str, float]:
        """Return :meth:`kept` with two values to compare it with.

        These are :meth:`best` and :meth:`random` for the same number of tokens.

        Args:
            compression: compression record of one stage, or of all stages together
                (``whole_record``).

        Returns:
            Fractions of the relevance on three sets of that many tokens: "kept", "best" (the most
            relevant) and "random" (on average).

        Raises:
            ValueError: the record is of a clip with another number of tokens.
        """
        count = compression.num_kept
        bounds = {"best": self.best(count), "random": self.random(count)}
        return {"kept": self.kept(compression)} | bounds

    def kept_over_layers(
        self, by_layer: Mapping[int, Compression], num_layers: int
    ) -> dict[str, float]:
        """Return :meth:`kept_with_bounds` for the tokens that a layer sees, averaged over layers.

        A token that is dropped inside the language model counts in the layers before, as it does in
        a retention ratio.

        Args:
            by_layer: compression record of each stage, by the layer before which it acts, such as
                ``run.by_layer``.
            num_layers: number of layers of the language model,
                ``len(run.cost.visual_tokens_by_layer)``.

        Returns:
            Fractions of the relevance on three sets of that many tokens: "kept", "best" (the most
            relevant) and "random" (on average).

        Raises:
            ValueError: a record is of a clip with another number of tokens.
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
    """Return the weight of each token in the output tokens, float32 [L]; 0 for a dropped one.

    The weights of a token in several output tokens are added, and limited to [0, 1].
    """
    if compression.mixing is None:
        weight = torch.where(compression.group >= 0, compression.weight.float(), 0.0)
    else:
        mixing = compression.mixing.coalesce()
        weight = torch.zeros(compression.num_tokens)
        weight.index_add_(0, mixing.indices()[1], mixing.values().float())
    return weight.clamp(0, 1)


def normalised(values: Tensor) -> Tensor:
    """Return values [L], at least 0 with sum 1; all equal if the sum is 0 or not finite."""
    values = values.detach().to("cpu", torch.float32).clamp(min=0)
    total = float(values.sum())
    if not math.isfinite(total) or total <= 0:
        return torch.full_like(values, 1 / len(values))
    return values / total
