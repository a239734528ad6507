"""Measures of how well a score per token finds the right tokens."""

from __future__ import annotations

import math

import torch
from scipy.stats import spearmanr
from torch import Tensor


def auc(scores: Tensor, positive: Tensor) -> float:
    """Return the probability that a positive scores above a negative; ties count half."""
    high, low = scores[positive].double(), scores[~positive].double().sort().values
    below = torch.searchsorted(low, high) + torch.searchsorted(low, high, right=True)
    return float(below.double().mean() / (2 * len(low)))


def average_precision(scores: Tensor, positive: Tensor) -> float:
    """Return the average precision: mean precision at each positive, from the highest score."""
    hits = positive[scores.argsort(descending=True, stable=True)].double()
    precision = hits.cumsum(0) / torch.arange(1, len(hits) + 1)
    return float((precision * hits).sum() / hits.sum())


def against_truth(scores: Tensor, holds: Tensor, objects: Tensor) -> list[float]:
    """Return AUC and average precision among all tokens, then among tokens on objects.

    ``holds`` and ``objects``, bool [L]: tokens that hold the answer, and tokens that show any
    object. The result is empty if no token holds the answer, and has only the first two values if
    all objects belong to the answer.
    """
    if not bool(holds.any()):
        return []
    found = [auc(scores, holds), average_precision(scores, holds)]
    if bool((objects & ~holds).any()):
        part = scores[objects], holds[objects]
        found += [auc(*part), average_precision(*part)]
    return found


def agreement(first: Tensor, second: Tensor) -> dict[str, float | None]:
    """Return the rank correlation and the overlap of two relevance maps [L].

    The rank correlation is None if a map is constant. The overlap is the fraction that their top
    10 % of tokens have in common.
    """
    count = len(first) // 10
    tops = [set(one.topk(count).indices.tolist()) for one in (first, second)]
    return {"rank": ranks_agree(first, second), "top": len(tops[0] & tops[1]) / count}


def ranks_agree(first: Tensor, second: Tensor) -> float | None:
    """Return Spearman's rho of two maps; None if either is constant."""
    found = float(spearmanr(first, second).statistic)
    return None if math.isnan(found) else found
