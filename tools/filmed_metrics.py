"""Metrics of compression records on filmed clips: by an encoder's classifier, and by regression.

A ``head`` is the classifier: it maps n vectors [n, D] to logits [n, C] of C classes. It is made
for averages of tokens, so its labels of single tokens may be wrong. Hence the metrics compare kept
tokens with all tokens of the same clip, not with human labels. The regression predicts dropped
tokens from nearby kept ones, and is tested on other units.
"""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

from gleanvid.types import Compression

Head = Callable[[Tensor], Tensor]
TOP = 5
SURE = 0.5  # smallest probability at which a token gets a label
NEAREST = 2  # number of kept tokens from which a dropped token is predicted
RIDGE = 1e-2  # ridge penalty, divided by the mean squared norm of the regression's input variables


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


def principal_components(features: Tensor, count: int = 64) -> Tensor:
    """Project tokens [L, D] on the strongest principal components of their clip, [L, count]."""
    rows = features.double()
    rows = rows - rows.mean(dim=0)
    return rows @ torch.linalg.eigh(rows.T @ rows).eigenvectors[:, -count:]


def reconstruction(components: Tensor, record: Compression) -> float:
    """Return R^2 of a ridge regression that predicts the dropped tokens of a compression record.

    Each is predicted from the ``NEAREST`` kept (or merged) tokens in time and space. The regression
    is fitted on even units and tested on odd units. Return NaN if one of these two halves has no
    dropped token. ``components`` [L, d]: result of :func:`principal_components`, which is the same
    for all records of a clip.
    """
    dropped = torch.nonzero(~record.mask).squeeze(1)
    kept = record.apply(components)[_nearest(record, dropped)].flatten(1)
    inputs = torch.cat([kept, torch.ones_like(kept[:, :1])], dim=1)
    fitted = dropped // (record.grid[1] * record.grid[2]) % 2 == 0
    if not fitted.any() or fitted.all():
        return float("nan")
    known, wanted = inputs[fitted], components[dropped[fitted]]
    gram = known.T @ known
    gram.diagonal().add_(RIDGE * float(gram.diagonal().mean()))
    guess = inputs[~fitted] @ torch.linalg.solve(gram, known.T @ wanted)
    truth = components[dropped[~fitted]]
    return float(1 - (truth - guess).square().sum() / (truth - wanted.mean(dim=0)).square().sum())


def _nearest(record: Compression, dropped: Tensor) -> Tensor:
    """Return the indices of the output tokens nearest to each dropped one, [n, ``NEAREST``].

    Distances are Euclidean in (unit, row, column). ``dropped`` int64 [n]: flat token indices.
    """
    _, rows, columns = record.grid

    def places(at: Tensor) -> Tensor:
        unit, row, column = at // (rows * columns), at // columns % rows, at % columns
        return torch.stack([unit, row, column], dim=1).double()

    distance = torch.cdist(places(dropped), places(record.keep))
    return distance.topk(min(NEAREST, record.num_kept), dim=1, largest=False).indices


def iou_over_time(record: Compression) -> float:
    """Return the mean IoU of the positions kept in two units, over distances of 1 to 20 units."""
    mask, found = record.mask.view(record.grid[0], -1), []
    for gap in range(1, 21):
        both, either = ((a(mask[:-gap], mask[gap:])).sum(1) for a in (torch.mul, torch.maximum))
        found.append((both[either > 0] / either[either > 0]).double().mean())
    return float(torch.stack(found).nanmean())
