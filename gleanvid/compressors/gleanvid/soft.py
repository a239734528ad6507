"""Soft GleanVID: GleanVID with a complementarity that never saturates (ours, not published).

In GleanVID, a kept token explains its direction completely. Once the kept tokens span a clip,
nothing in it counts as new. Here a direction that was kept once is worth less, but not nothing, and
the novelty of the first unit does not contain the clip's mean. ``soft_reference.py`` has the steps
that differ, in plain float64.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar

import torch

from gleanvid.compressors.base import setting
from gleanvid.compressors.gleanvid import GleanVID
from gleanvid.compressors.gleanvid.budget import centred_first_unit
from gleanvid.compressors.gleanvid.debiasing import DebiasedClip
from gleanvid.compressors.gleanvid.residuals import Evidence

if TYPE_CHECKING:
    from torch import Tensor


@dataclass(frozen=True)
class SoftGleanVID(GleanVID):
    """GleanVID with a complementarity that does not saturate. It is not in the paper.

    The complementarity of a token x is v(x) = sqrt(x^T (I + X_S^T X_S / s2)^-1 x), where the rows
    of X_S are the tokens kept of earlier units, and s2 is ``noise`` times the mean squared norm of
    all debiased tokens. It is the standard deviation of x in a linear model that has seen X_S with
    noise of variance s2. Without noise, it would be GleanVID's residual norm.

    The novelty of the first unit, which has no units before it, is its distance from the clip's
    mean with ``first_unit`` "centred", and its norm as in the paper with "norm". The other settings
    are those of :class:`GleanVID`.
    """

    name: ClassVar[str] = "gleanvid_soft"
    title: ClassVar[str] = "Soft GleanVID"
    paper: ClassVar[str] = "not published: a variant of GleanVID (ours)"
    reported: ClassVar[str] = ""

    noise: float = setting(
        1.0,
        "Variance of the noise, relative to a token's mean squared norm; higher lets a kept token"
        " explain less",
        low=0.01,
        high=10.0,
        step=0.01,
        label="noise",
        open=True,
    )
    first_unit: str = setting(
        "centred",
        "How the novelty of the first temporal unit is measured",
        choices=("centred", "norm"),
    )
    orth_tolerance: float = setting(
        1e-4,
        "Ridge of the novelty, relative to the mean squared norm of the earlier units' features",
        low=0.0,
        high=0.01,
        above_low=True,
        step=1e-4,
        label="ridge",
    )

    def _novelty(self, clip: DebiasedClip, means: Tensor) -> Tensor:
        novelty = super()._novelty(clip, means)
        return novelty if self.first_unit == "norm" else centred_first_unit(novelty, clip, means)

    def _evidence(self, clip: DebiasedClip, budgets: list[int]) -> Evidence:
        return SoftEvidence(clip, budgets, self.noise)


class SoftEvidence:
    """Complementarity v(x)^2 = x^T M x with M = (I + X_S^T X_S / s2)^-1 (:class:`SoftGleanVID`).

    M is I - H^T H. Every kept token adds a row to H; a Cholesky factor [D, D] takes the place of H
    when it has more than 2 D rows. A token x is y + m with the clip's mean m. What all tokens share
    can be most of x^T M x, so it is computed as |y + M m|^2 - |H y|^2 + (M m)^T (m - M m), whose
    terms are smaller: rounding errors of large ones would decide between tokens.
    """

    def __init__(self, clip: DebiasedClip, budgets: Sequence[int], noise: float) -> None:
        features, width = clip.features, clip.features.shape[-1]
        self.scale, self._mean = clip.scale, clip.mean
        ones = torch.ones_like(clip.norms)[..., None]
        self._centred = replace(
            clip,
            coordinates=torch.cat([clip.coordinates, ones], -1),
            directions=torch.cat([clip.directions, clip.mean[None]]),
        )
        unit = torch.eye(max(budgets), dtype=features.dtype, device=features.device)
        self._noise = unit * (noise * clip.squares.mean()).clamp(min=1e-30)  # s2 I
        self._rows = features.new_empty(min(sum(budgets), 2 * width + max(budgets)), width)  # H
        self._used = 0  # number of rows of H
        self._image, self._known = clip.mean.clone(), torch.zeros_like(clip.mean)  # M m, m - M m
        self._shared = features.new_zeros(())  # (M m)^T (m - M m)

    def complement(self, unit: int) -> Tensor:
        tokens = self._centred.unit(unit)
        self._along = tokens @ self._rows[: self._used].T  # H y
        self._tokens = tokens.add_(self._image)  # y + M m
        size = torch.linalg.vector_norm(self._tokens, dim=1)
        known = torch.linalg.vector_norm(self._along, dim=1)
        squares = torch.addcmul(self._shared, size, size).addcmul_(known, known, value=-1.0)
        return squares.clamp_(min=0).sqrt_()

    def absorb(self, chosen: Tensor) -> None:
        count, tokens, rows = len(chosen), self._tokens[chosen], self._rows[: self._used]
        images = torch.addmm(tokens, self._along[chosen], rows, alpha=-1.0)  # M x
        gram = torch.addmm(self._noise[:count, :count], tokens.add_(self._known), images.T)
        factor = torch.linalg.cholesky_ex(gram).L
        added = self._rows[self._used :][:count]
        added.copy_(torch.linalg.solve_triangular(factor, images, upper=False))
        self._image.addmv_(added.T, added @ self._mean, alpha=-1.0)
        torch.sub(self._mean, self._image, out=self._known)
        self._shared = self._image @ self._known
        self._used += count
        if self._used > 2 * rows.shape[1]:
            self._shorten()

    def _shorten(self) -> None:
        """Replace H by D rows with the same H^T H."""
        rows = self._rows[: self._used].double()
        gram = rows.T @ rows
        gram.diagonal().add_(1e-12)  # a Cholesky factor exists even if H lacks directions
        self._used = len(gram)
        self._rows[: self._used] = torch.linalg.cholesky_ex(gram).L.T

    def trace(self, budgets: Sequence[int], complement: Tensor) -> dict[str, Tensor]:
        return {}
