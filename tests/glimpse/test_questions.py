from collections import defaultdict

import numpy as np
import pytest

from gleanvid.glimpse.questions.questions import FAMILIES, normalise, questions
from gleanvid.glimpse.world.scenes import sample_scene
from gleanvid.glimpse.world.world import stream


def asked(split, count):
    return [
        (scene, question)
        for index in range(count)
        for scene in [sample_scene(0, split, index)]
        for question in questions(scene, stream(0, split, index, purpose=1))
    ]


@pytest.fixture(scope="module")
def train():
    return asked("train", 1500)


@pytest.fixture(scope="module")
def test():
    return asked("test", 750)


def test_every_question_has_four_options_one_of_them_right(train):
    for _, question in train:
        assert len(question.options) == len(set(question.options)) == 4
        assert question.answer in question.options
        assert normalise(question.answer) == question.answer


@pytest.mark.parametrize("family", FAMILIES)
def test_guessing_from_question_text_alone_is_at_chance(family, train, test):
    """A guesser that learns clues from texts of the train split does no better than chance.

    The clues: the option, the question's first word and length, the set of options, and words that
    the option shares with the question or with other options.
    """
    counts = defaultdict(lambda: np.array([1.0, 4.0]))

    def clues(question, option):
        yield ("option", option)
        yield ("text", question.text.split()[0], len(question.text.split()), option)
        yield ("named", option in question.text, any(w in question.text for w in option.split()))
        yield ("set", tuple(sorted(question.options)), option)
        shared = sum(bool(set(option.split()) & set(other.split())) for other in question.options)
        yield ("shared words", shared)

    for _, question in train:
        if question.family == family:
            for option in question.options:
                for clue in clues(question, option):
                    counts[clue] += (option == question.answer, 1)
    rights = []
    for _, question in test:
        if question.family == family:
            odds = [
                sum(np.log(counts[clue][0] / counts[clue][1]) for clue in clues(question, option))
                for option in question.options
            ]
            rights.append(question.options[int(np.argmax(odds))] == question.answer)
    spread = np.sqrt(0.25 * 0.75 / len(rights))
    assert abs(np.mean(rights) - 0.25) < 4 * spread, (np.mean(rights), len(rights))
