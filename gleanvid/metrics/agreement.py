"""Agreement of an answer with a reference, usually the answer under full tokens."""

from __future__ import annotations

import re

_WORD = re.compile(r"\w+(?:[.,]\d+)*", re.UNICODE)


def words(text: str) -> list[str]:
    """Lower-case words and numbers, without punctuation."""
    return _WORD.findall(text.casefold())


def agreement(answer: str, reference: str) -> float:
    """Fraction of words in common, in order (ROUGE-L F1), in [0, 1]; symmetric.

    Lin, "ROUGE", 2004. Case and punctuation do not count; two empty answers agree.
    """
    ours, theirs = words(answer), words(reference)
    if not ours or not theirs:
        return float(ours == theirs)
    return 2 * _common_length(ours, theirs) / (len(ours) + len(theirs))


def same_answer(answer: str, reference: str) -> bool:
    """Whether the words are the same, in the same order."""
    return words(answer) == words(reference)


def _common_length(ours: list[str], theirs: list[str]) -> int:
    """Length of the longest common subsequence of two lists of words."""
    lengths = [0] * (len(theirs) + 1)  # with the words of ours so far
    for word in ours:
        before = lengths.copy()
        for place, other in enumerate(theirs):
            longer = max(before[place + 1], lengths[place])
            lengths[place + 1] = before[place] + 1 if word == other else longer
    return lengths[-1]
