"""The world: deterministic, splits apart, everything inside the picture, answers true."""

import itertools

import numpy as np
import pytest

from gleanvid.glimpse.questions import STANDS_STILL, WORDINGS, normalise, questions
from gleanvid.glimpse.render import DISTANCES, render
from gleanvid.glimpse.world import (
    COLOURS,
    DIRECTIONS,
    SHAPES,
    SPLITS,
    ClipSettings,
    sample_scene,
    stream,
)

SCENES = [sample_scene(0, "train", index) for index in range(200)]


def asked(scene, index):
    return questions(scene, np.random.default_rng(index))


def test_the_same_seed_split_and_index_give_the_same_clip():
    for index in range(5):
        first, second = (sample_scene(3, "validation", index) for _ in range(2))
        assert first == second
        assert np.array_equal(render(first)[0], render(second)[0])


def test_splits_and_seeds_share_no_stream():
    draws = {
        (seed, split, index): stream(seed, split, index).integers(2**62)
        for seed, split, index in itertools.product(range(3), SPLITS, range(100))
    }
    assert len(set(draws.values())) == len(draws)
    scenes = {repr(sample_scene(0, split, index)) for split in SPLITS for index in range(50)}
    assert len(scenes) == 3 * 50


def test_two_objects_differ_in_shape_and_colour_and_stay_apart():
    for scene in SCENES:
        if len(scene.things) < 2:
            continue
        first, second = scene.things
        assert first.shape != second.shape and first.colour != second.colour
        gaps = [np.hypot(*np.subtract(first.centre(t), second.centre(t))) for t in (0, 0.5, 1)]
        assert min(gaps) > 0.9 * (first.radius + second.radius)


def test_whole_paths_lie_inside_and_point_where_they_are_said_to():
    for scene in SCENES:
        for thing in scene.things:
            for x, y in (thing.start, thing.end):
                assert thing.radius - 1e-6 <= x <= scene.settings.width - thing.radius + 1e-6
                assert thing.radius - 1e-6 <= y <= scene.settings.height - thing.radius + 1e-6
            shift = np.subtract(thing.end, thing.start)
            if thing.direction is None:
                assert not shift.any()
            else:
                cosine = shift @ DIRECTIONS[thing.direction] / np.hypot(*shift)
                assert cosine > np.cos(np.pi / 8)  # nearest of the eight directions
                assert np.hypot(*shift) >= 15  # a person can see it


def test_every_value_of_the_world_turns_up():
    things = [thing for scene in SCENES for thing in scene.things]
    assert {thing.shape for thing in things} == set(SHAPES) == set(DISTANCES)
    assert {thing.colour for thing in things} == set(COLOURS)
    assert {thing.direction for thing in things} == {*DIRECTIONS, None}


def test_an_object_is_painted_in_its_colour_where_the_cells_say():
    for scene in SCENES[:10]:
        frames, shares = render(scene)
        for k, thing in enumerate(scene.things):
            row, column = np.unravel_index(shares[0, k].argmax(), shares[0, k].shape)
            cell = frames[0, row * 16 : row * 16 + 16, column * 16 : column * 16 + 16]
            near = np.abs(cell.astype(int) - COLOURS[thing.colour]).max(-1) <= 14
            assert near.mean() == pytest.approx(shares[0, k].max(), abs=0.25)
        assert shares.sum(1).max() <= 1 + 1e-5


def test_answers_follow_from_the_scene():
    for index, scene in enumerate(SCENES):
        by_shape = {thing.shape: thing for thing in scene.things}
        by_colour = {thing.colour: thing for thing in scene.things}
        for question in asked(scene, index):
            text = question.text.lower()
            if question.family == "colour":
                (shape,) = (shape for shape in SHAPES if shape in text)
                assert by_shape[shape].colour == question.answer
            elif question.family == "shape":
                (colour,) = (colour for colour in COLOURS if colour in text.split("?")[0].split())
                assert by_colour[colour].shape == question.answer
            elif question.family == "direction of the mover":
                assert question.answer in {thing.direction for thing in scene.movers}
            elif question.family == "mover":
                assert question.answer.count(" and ") == max(0, len(scene.movers) - 1)
            elif question.family == "what happens":
                assert (STANDS_STILL[3:] in question.answer) == (
                    len(scene.movers) < len(scene.things)
                )


def test_no_question_contains_its_answer():
    seen = set()
    for index, scene in enumerate(SCENES):
        for question in asked(scene, index):
            seen.add(question.family)
            assert question.answer not in normalise(question.text).replace("?", "").split()
            assert question.answer not in question.text
    assert seen == set(WORDINGS)


@pytest.mark.parametrize("family", ["colour", "shape", "direction"])
def test_no_single_answer_is_right_a_quarter_of_the_time(family):
    answers = [q.answer for i, s in enumerate(SCENES) for q in asked(s, i) if q.family == family]
    if family == "direction":
        answers = [answer for answer in answers if answer != STANDS_STILL]
    assert max(answers.count(answer) for answer in answers) / len(answers) < 0.25


@pytest.mark.parametrize(
    ("settings", "named"),
    [({"height": 32}, "height"), ({"num_frames": 1}, "num_frames"), ({"min_step": 9}, "min_step")],
)
def test_bad_settings_are_named(settings, named):
    with pytest.raises(ValueError, match=named):
        ClipSettings(**settings)


def test_an_unknown_split_and_an_indivisible_size_are_named():
    with pytest.raises(ValueError, match="split='dev'"):
        sample_scene(0, "dev", 0)
    with pytest.raises(ValueError, match="height=100"):
        render(sample_scene(0, "test", 0, ClipSettings(height=100)))
