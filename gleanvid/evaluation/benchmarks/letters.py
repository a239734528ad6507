"""Finds the option's letter in a model's answer, by the rules of LMMs-Eval 0.7.3.

The four published benchmarks have three different rules. Published scores depend on the odd cases
of these rules, so they are kept. ``tests/evaluation/benchmarks/test_letters.py`` compares them with
LMMs-Eval itself.
"""

from __future__ import annotations

import re

_EDGES = ",.!?;:'\""  # these characters are stripped from both ends of an answer
_PHRASES = (  # phrases after which a letter counts as the answer
    *("the answer is", "answer is", "the correct answer is", "correct answer is"),
    *("the best answer is", "best answer is", "the correct option is", "correct option is"),
    *("the best option is", "best option is", "the choice is", "choice is"),
    *("the correct choice is", "correct choice is", "i choose", "i select", "i pick"),
    *(
        "my answer is",
        "my choice is",
        "옵션",
        "정답은",
        "답은",
        "답:",
        "答案是",
        "答案为",
        "选",
        "答えは",
    ),
)
# Ways to write an option's letter, the least ambiguous first.
_WRITTEN = ("({})", "{}.", "{}:", "{})", "{} ", "{}")


def sure_letter(response: str, letters: str = "ABCD") -> str:
    """Find the letter of an answer as Video-MME and MLVU do.

    The letter is looked for at the start of the answer, then at its end, then after a phrase such
    as "the answer is", then anywhere. Anywhere, the forms "(A)", "A.", "A:", "A)", "A " and "A" are
    tried in this order. If a form occurs with several letters, the last one in the answer counts.
    Return "" if there is no letter.
    """
    text = response.strip()
    for mark in _EDGES:
        text = text.strip(mark)
    bare, text = text.strip(), f" {text} "
    for letter in letters:
        if bare.startswith(letter) and not bare[1:2].isalpha():
            return letter
    for letter in letters:
        if bare.endswith(letter) and not bare[-2:-1].isalpha():
            return letter
    stated = [
        (text.find(letter, start + len(phrase)), letter)
        for phrase in _PHRASES
        if (start := text.lower().find(phrase)) >= 0
        for letter in letters
    ]
    for places in (stated, *(_places(text, form, letters) for form in _WRITTEN)):
        if found := [place for place in places if place[0] >= 0]:
            return max(found)[1]
    return ""


def _places(text: str, form: str, letters: str) -> list[tuple[int, str]]:
    return [(text.rfind(form.format(letter)), letter) for letter in letters]


_HEADED = re.compile(r"^([A-E])\.\s*(.+)$", re.IGNORECASE)
_ALONE = re.compile(r"\b([A-E])\b", re.IGNORECASE)
_PUNCTUATION = ';/[]"{}()=+\\_-><@`,?!'


def lone_letter(response: str) -> str:
    """Find the letter of an answer as MVBench does.

    That is the letter A to E at the start, as in "B. a cat", else the first one that is a whole
    word. Lower-case letters count, too, even the article "a". Return "" if there is none.
    """
    text = response.strip()
    if headed := _HEADED.match(text):
        return headed[1].upper()
    text = text.replace("\n", " ").replace("\t", " ").strip()
    digits = re.search(r"\d,\d", text) is not None
    bare = text
    for mark in _PUNCTUATION:
        beside_space = f"{mark} " in text or f" {mark}" in text
        bare = bare.replace(mark, "" if beside_space or digits else " ")
    bare = re.sub(r"\.(?!\d)", "", bare, count=32)
    alone = _ALONE.search(bare.strip("'").strip('"'))
    return alone[1].upper() if alone else ""


_PREFIXES = (
    *("The best answer is", "The correct answer is", "The answer is", "The answer"),
    *("The best option is", "The correct option is", "Best answer:", "Best option:"),
)


def first_letter(response: str) -> str:
    """Find the letter of an answer as LongVideoBench does.

    That is the first capital A to E after removing phrases such as "The answer is"; "" if none.
    """
    text = response.strip()
    for prefix in _PREFIXES:
        text = text.replace(prefix, "")
    found = re.search("[A-E]", text)
    return found[0] if found else ""
