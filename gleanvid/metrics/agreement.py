"""Agreement of an answer with a reference, usually the answer under full tokens."""

from __future__ import annotations

import re

_WORD = re.compile(r"\w+(?:[.,]\d+)*", re.UNICODE)


def words(text: str) -> list[str]:
    """Lower-case words and numbers, without punctuation."""
    return _WORD.findall(text.casefold())


def agreement(answer: str, reference: str) -> float:
    """Share of words in common, in order (ROUGE-L F1), in [0, 1]; symmetric.

    Lin, "ROUGE", 2004. Case and punctuation do not count; two empty answers agree.
    """
    ours, theirs = words(answer), words(reference)
    if not ours or not theirs:
        return float(ours == theirs)
    return 2 * sum(_in_common(ours, theirs)) / (len(ours) + len(theirs))


def same_answer(answer: str, reference: str) -> bool:
    """Whether the words are the same, in the same order."""
    return words(answer) == words(reference)


def marked(answer: str, reference: str) -> list[tuple[str, bool]]:
    """The answer in pieces as written, each with whether it differs from the reference.

    The pieces joined give ``answer``. What stands between words never differs.
    """
    pieces = re.split(f"({_WORD.pattern})", answer)
    spoken = pieces[1::2]
    common = _in_common([word.casefold() for word in spoken], words(reference))
    flags = [flag for kept in common for flag in (False, not kept)] + [False]
    return [(piece, flag) for piece, flag in zip(pieces, flags, strict=True) if piece]


def _in_common(ours: list[str], theirs: list[str]) -> list[bool]:
    """For each of our words whether it is in a longest common subsequence."""
    lengths = [[0] * (len(theirs) + 1) for _ in range(len(ours) + 1)]
    for i in reversed(range(len(ours))):
        for j in reversed(range(len(theirs))):
            longer = max(lengths[i + 1][j], lengths[i][j + 1])
            same = ours[i] == theirs[j]
            lengths[i][j] = lengths[i + 1][j + 1] + 1 if same else longer
    common, j = [], 0
    for i, word in enumerate(ours):
        while j < len(theirs) and theirs[j] != word and lengths[i][j] == lengths[i][j + 1]:
            j += 1
        taken = j < len(theirs) and theirs[j] == word
        taken = taken and lengths[i][j] == lengths[i + 1][j + 1] + 1
        common.append(taken)
        j += taken
    return common
