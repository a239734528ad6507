from collections import Counter, defaultdict

import numpy as np
import pytest

from gleanvid.glimpse.questions.questions import FAMILIES, Evidence, normalise, questions
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
    return asked("train", 3000)


@pytest.fixture(scope="module")
def test():
    return asked("test", 1500)


def test_every_question_has_four_options_one_of_them_right(train):
    for _, question in train:
        assert len(question.options) == len(set(question.options)) == 4
        assert question.answer in question.options
        assert normalise(question.answer) == question.answer


def test_right_option_is_at_every_position_equally_often(train):
    places = Counter(question.options.index(question.answer) for _, question in train)
    assert max(places.values()) < 1.08 * min(places.values())


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


def test_evidence_lies_within_the_time_that_its_object_is_visible(train):
    for scene, question in train[:4000]:
        assert question.evidence
        for part in question.evidence:
            assert isinstance(part, Evidence)
            assert -1e-9 <= part.start < part.end <= 1 + 1e-9
            thing = scene.things[part.thing]
            assert any(s < part.end and part.start < e for s, e in thing.spans), question
