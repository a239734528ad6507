"""Search for the lowest retention ratio that keeps an answer."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

from gleanvid.metrics.agreement import same_answer
from gleanvid.run import Run

LOW = 0.01  # default for the lowest retention ratio that is tried
PASSES = 7
# number of ratios tried before bisection, evenly spread: the answer may change more than once
SPREAD = 3


@dataclass(frozen=True, eq=False)
class Try:
    """One retention ratio that the search tried, with its answer.

    Args:
        ratio: the retention ratio.
        tokens: number of visual tokens that are kept at this ratio.
        run: the run; None if the compressor refused the ratio.
        kept: whether the answer has the same words as the reference answer.
        error: why the compressor refused the ratio, else "".
    """

    ratio: float
    tokens: int
    run: Run | None = None
    kept: bool = False
    error: str = ""


@dataclass(frozen=True, eq=False)
class Least:
    """Search for the lowest retention ratio of one compressor that keeps an answer.

    The result is :attr:`above`: there, and at all higher tried ratios, the run gives ``answer``. At
    :attr:`below`, the next lower tried ratio, it does not. Ratios not tried may break this order.

    Args:
        method: title of the compressor.
        answer: the reference answer; see :func:`gleanvid.metrics.same_answer`.
        num_tokens: number of visual tokens of the clip.
        low: lowest retention ratio to try, in (0, high).
        high: retention ratio below which to search, at most 1. It is not tried.
        passes: largest number of ratios to try.
        tries: all tries so far, in their order.

    Raises:
        ValueError: ``low``, ``high`` or ``passes`` is out of its range.

    >>> search = Least("GleanVID", "A red star.", num_tokens=1600)
    >>> search.next_ratio
    0.3163
    """

    method: str
    answer: str
    num_tokens: int
    low: float = LOW
    high: float = 1.0
    passes: int = PASSES
    tries: tuple[Try, ...] = ()

    def __post_init__(self) -> None:
        check_search(self.low, self.high, self.passes)

    @property
    def next_ratio(self) -> float | None:
        """The retention ratio to try next; None once the search is over."""
        if len(self.tries) >= self.passes:
            return None
        least, most = self._range
        tried = {one.tokens for one in self.tries}
        for step in range(SPREAD, 0, -1):
            count = round(least * (most / least) ** (step / (SPREAD + 1)))
            if count not in tried and least <= count < most:
                return self._ratio(count)
        failed, kept = self._bracket
        middle = max(failed + 1, round(math.sqrt(failed * kept)))
        return self._ratio(middle) if middle < kept else None

    def answered(self, ratio: float, run: Run) -> Least:
        """Return a copy of the search with the run at one retention ratio added."""
        kept = same_answer(run.answer, self.answer)
        return self._with(Try(ratio, self._tokens(ratio), run, kept))

    def refused(self, ratio: float, error: str) -> Least:
        """Return a copy of the search to which a refused retention ratio is added."""
        return self._with(Try(ratio, self._tokens(ratio), error=error))

    @property
    def above(self) -> Try | None:
        """The try at the lowest ratio that kept the answer, above all ratios that did not.

        It is None if there is no such try.
        """
        failed, _ = self._bracket
        kept = [one for one in self.tries if one.kept and one.tokens > failed]
        return min(kept, key=lambda one: one.tokens, default=None)

    @property
    def below(self) -> Try | None:
        """The try at the highest ratio that lost the answer or was refused, or None."""
        return max((one for one in self.tries if not one.kept), key=_tokens, default=None)

    @property
    def ratio(self) -> float | None:
        """The retention ratio of :attr:`above`; None if no tried ratio kept the answer."""
        return self.above.ratio if self.above else None

    @property
    def came_back(self) -> tuple[Try, ...]:
        """The tries at ratios under :attr:`below` that kept the answer, highest ratio first."""
        failed, _ = self._bracket
        again = [one for one in self.tries if one.kept and one.tokens < failed]
        return tuple(sorted(again, key=_tokens, reverse=True))

    def __str__(self) -> str:
        """The result as a sentence: "GleanVID keeps it down to 3.82 %.", perhaps with a remark."""
        above, below = self.above, self.below
        if above is None and below is None:
            return f"{self.method}: nothing was tried."
        least = f"keeps it down to {percent(above.ratio)}" if above else ""
        if below is None:
            return f"{self.method} {least}, the least that was tried."
        if below.error:
            said = (
                f"{least}; it refuses lower ratios" if least else f"refuses {percent(below.ratio)}"
            )
            return f"{self.method} {said}: {below.error}."
        said = f"{self.method} {least or f'loses it already at {percent(below.ratio)}'}."
        if not self.came_back:
            return said
        order = [*reversed(self.came_back), below, *([above] if above else [])]
        steps = [f"{'kept' if one.kept else 'lost'} at {percent(one.ratio)}" for one in order]
        return f"{said} Not monotone: {', '.join(steps)}."

    def summary(self) -> dict[str, Any]:
        """Return the ratio and tokens found, and every try in its order, ready for JSON."""
        return {
            "method": self.method,
            "reference": self.answer,
            "ratio": self.ratio,
            "tokens": self.above.tokens if self.above else None,
            "num_tokens": self.num_tokens,
            "came_back": [one.ratio for one in self.came_back],
            "tries": [
                {"ratio": one.ratio, "tokens": one.tokens, "kept": one.kept}
                | ({"answer": one.run.answer} if one.run else {"error": one.error})
                for one in self.tries
            ],
        }

    def _with(self, one: Try) -> Least:
        return replace(self, tries=(*self.tries, one))

    @property
    def _range(self) -> tuple[int, int]:
        """Search range: lowest number of tokens to try, and the number below which to search."""
        return max(1, self._tokens(self.low)), self._tokens(self.high)

    @property
    def _bracket(self) -> tuple[int, int]:
        """Numbers of tokens between which to bisect: the answer is lost at one, kept at the other.

        The first is the largest that lost the answer, the second the smallest above it that kept
        it. Without such a try, the end of the search range takes its place.
        """
        least, most = self._range
        failed = max((one.tokens for one in self.tries if not one.kept), default=least - 1)
        kept = [one.tokens for one in self.tries if one.kept and one.tokens > failed]
        return failed, min(kept, default=most)

    def _tokens(self, ratio: float) -> int:
        return math.floor(ratio * self.num_tokens + 1e-9)  # rounded as in Compressor.budget

    def _ratio(self, count: int) -> float:
        """Return the shortest decimal ratio that gives this number of tokens."""
        for digits in range(2, 9):
            ratio = math.ceil(count / self.num_tokens * 10**digits) / 10**digits
            if self._tokens(ratio) == count:
                return ratio
        return count / self.num_tokens


def check_search(low: float, high: float, passes: int) -> None:
    """Raise ``ValueError`` unless 0 < low < high <= 1 and ``passes`` is an integer above 0."""
    if not 0 < low < high <= 1:
        raise ValueError(f"low={low!r} and high={high!r} must be 0 < low < high <= 1")
    if not isinstance(passes, int) or passes < 1:
        raise ValueError(f"passes={passes!r} must be a whole number of at least 1")


def percent(ratio: float) -> str:
    """Format a ratio in per cent, with all its digits: ``3.82 %``, ``32 %``."""
    return f"{100 * ratio:.10g} %"


def _tokens(one: Try) -> int:
    return one.tokens
