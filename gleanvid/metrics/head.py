"""Compare the output of an encoder's classifier on kept tokens with that on all tokens.

A ``head`` is the classifier: it maps n vectors [n, D] to logits [n, C] of C classes. It is made
for averages of tokens, so its labels of single tokens may be wrong. Hence the metrics compare kept
tokens with all tokens of the same clip, not with human labels.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import torch

from gleanvid.types import Compression

if TYPE_CHECKING:
    from torch import Tensor

Head = Callable[["Tensor"], "Tensor"]
TOP = 5
SURE = 0.5  # smallest probability at which a token gets a label


def label_recall(features: Tensor, record: Compression, head: Head) -> float:
    """Return which fraction of the labels in a clip the kept tokens still have.

    The label of a token is its likeliest class, if the probability is at least ``SURE``. Labels are
    counted once per clip. Return NaN if no token has a label. ``features`` [L, D]: all tokens.
    """
    seen = _labels(features.float(), head)
    kept = _labels(record.apply(features.float()), head)
    return len(seen & kept) / len(seen) if seen else float("nan")


def clip_agreement(features: Tensor, record: Compression, head: Head) -> tuple[float, float]:
    """Compare the classifier's output for the mean of the kept tokens with that for all tokens.

    Returns the fraction of the ``TOP`` likeliest classes that both outputs have in common, and
    their KL divergence, KL(all tokens || kept tokens), in nats.
    """
    features = features.float()
    means = torch.stack([features.mean(dim=0), record.apply(features).mean(dim=0)])
    both = torch.log_softmax(head(means), dim=1).double()
    kl = float((both[0].exp() * (both[0] - both[1])).sum())
    return float(_in_common(both[:1], both[1:])), max(0.0, kl)


def frame_agreement(features: Tensor, record: Compression, head: Head) -> float:
    """Compare the classifier's output unit by unit: for the mean of kept and of all tokens.

    Returns the fraction of the ``TOP`` likeliest classes that both outputs have in common, averaged
    over the units. A merged token counts in every unit from which a token was merged into it. A
    unit without kept tokens counts as 0.
    """
    features, units = features.float(), record.grid[0]
    rows, groups = record.apply(features), record.group.view(units, -1)
    taken = [group[group >= 0].unique() for group in groups]
    filled = [unit for unit in range(units) if len(taken[unit])]
    whole = features.view(units, -1, features.shape[1])[filled].mean(dim=1)
    kept = torch.stack([rows[taken[unit]].mean(dim=0) for unit in filled])
    return float(_in_common(head(whole), head(kept)).sum()) / units


def _labels(rows: Tensor, head: Head) -> set[int]:
    sure, label = torch.softmax(head(rows), dim=1).max(dim=1)
    return set(label[sure >= SURE].tolist())


def _in_common(first: Tensor, second: Tensor) -> Tensor:
    """Return which fraction of the ``TOP`` classes two outputs [n, C] have in common: [n]."""
    a, b = (logits.topk(TOP, dim=1).indices for logits in (first, second))
    return (a[:, :, None] == b[:, None, :]).sum(dim=(1, 2)) / TOP
