"""Agreement of an answer with a reference, usually the answer with all tokens."""

from __future__ import annotations

import re

_WORD = re.compile(r"\w+(?:[.,]\d+)*", re.UNICODE)


def words(text: str) -> list[str]:
    """Split a text into words and numbers in lower case, without punctuation."""
    return _WORD.findall(text.casefold())


def agreement(answer: str, reference: str) -> float:
    """Return the ROUGE-L F1 score of two answers (Lin, "ROUGE", 2004).

    Args:
        answer: the answer to judge.
        reference: the answer to compare with; swapping the two does not change the score.

    Returns:
        The F1 score of the longest common subsequence of words, in [0, 1]. Case and punctuation
        are ignored; two empty answers score 1.

    >>> agreement("a red circle", "a blue circle")
    0.6666666666666666
    """
    ours, theirs = words(answer), words(reference)
    if not ours or not theirs:
        return float(ours == theirs)
    return 2 * _common_length(ours, theirs) / (len(ours) + len(theirs))


def same_answer(answer: str, reference: str) -> bool:
    """Return whether two answers have the same words in the same order."""
    return words(answer) == words(reference)


def _common_length(ours: list[str], theirs: list[str]) -> int:
    """Return the length of the longest common subsequence of two lists of words."""
    # element n: result for the words of ``ours`` seen so far and theirs[:n]
    lengths = [0] * (len(theirs) + 1)
    for word in ours:
        before = lengths.copy()
        for place, other in enumerate(theirs):
            longer = max(before[place + 1], lengths[place])
            lengths[place + 1] = before[place] + 1 if word == other else longer
    return lengths[-1]
