import numpy as np
import pytest

from gleanvid.glimpse.questions.clips import ask_about, evidence_by_thing
from gleanvid.glimpse.training.targets import (
    HAPPENED,
    IGNORED,
    SEEN,
    evidence_tokens,
    token_targets,
)
from gleanvid.glimpse.world.render import render
from gleanvid.glimpse.world.scenes import sample_scene
from gleanvid.glimpse.world.world import CHANGES, COLOURS, SHAPES, ClipSettings

SETTINGS = ClipSettings(height=96, width=128, num_frames=16)
EVENT, SPANS, CHANGE, GONE_SHAPE, GONE_COLOUR = (
    list(HAPPENED).index(n) for n in ("event", "spans", "change", "gone shape", "gone colour")
)


def told(index):
    scene = sample_scene(0, "train", index, SETTINGS)
    _, shares = render(scene)
    seen, happened = token_targets(scene, shares)
    grid = (SETTINGS.num_units, 6, 8)
    return scene, seen.reshape(*grid, len(SEEN)), happened.reshape(*grid, len(HAPPENED))


def colour(thing):
    return list(COLOURS).index(thing.colour) + 1


def scenes(theme, count=3):
    found = (told(index) for index in range(300) if theme_of(index) == theme)
    return [next(found) for _ in range(count)]


def theme_of(index):
    return sample_scene(0, "train", index, SETTINGS).theme


def test_training_target_of_a_token_is_its_object_s_shape_and_colour():
    scene, seen, _ = told(4)
    things = {colour(thing): thing for thing in scene.things}
    shown = seen[seen[..., 1] > 0]
    assert set(shown[:, 1].tolist()) <= set(things) and len(shown)
    for shape, number, *_ in shown.tolist():
        thing = things[number]
        expected = IGNORED if thing.behaviour == "turns" else SHAPES.index(thing.shape) + 1
        assert shape == expected


def test_training_targets_are_valid_class_indices():
    for index in range(12):
        _, seen, happened = told(index)
        for facts, classes in ((seen, SEEN), (happened, HAPPENED)):
            assert ((facts >= 0) | (facts == IGNORED)).all()
            assert (facts.reshape(-1, len(classes)).max(0) < list(classes.values())).all()


def test_training_target_of_position_is_the_object_s_centre():
    scene, seen, _ = told(4)
    for u in range(SETTINGS.num_units):
        for thing in scene.things:
            own = seen[u, seen[u, ..., 1] == colour(thing)]
            x, y = thing.centre((u + 0.5) / SETTINGS.num_units)
            expected = [1 + int(x / SETTINGS.width * 8), 1 + int(y / SETTINGS.height * 8)]
            assert (own[:, 3:] == expected).all()


def test_training_targets_mark_a_flash_as_appearing_then_as_just_gone():
    for scene, seen, happened in scenes("flash"):
        thing = scene.things[0]
        unit = round(thing.appears * SETTINGS.num_units)
        at = seen[unit, ..., 1] == colour(thing)
        assert at.any() and (happened[unit, at, EVENT] == 2).all()
        left = at & (seen[unit + 1, ..., 1] == 0)
        assert (happened[unit + 1, left, EVENT] == 3).all()
        assert (happened[unit + 1, left, GONE_COLOUR] == colour(thing)).all()
        assert (happened[unit + 1, left, GONE_SHAPE] == SHAPES.index(thing.shape) + 1).all()
        assert (happened[unit + 2 :, ..., GONE_COLOUR] != colour(thing)).all()


def test_training_target_counts_how_often_a_blinking_object_has_appeared():
    for scene, seen, happened in scenes("repeats"):
        thing = scene.things[0]
        for u in range(SETTINGS.num_units):
            own = happened[u, seen[u, ..., 1] == colour(thing), SPANS]
            begun = sum(start <= u / SETTINGS.num_units for start, _ in thing.spans)
            assert (own == begun).all()


@pytest.mark.parametrize("what", CHANGES)
def test_training_target_of_change_is_0_before_the_cut_and_the_changed_property_after(what):
    scene, _, happened = next(
        found
        for found in (told(i) for i in range(300) if theme_of(i) == "cut")
        if found[0].change.what == what
    )
    cut = round(scene.things[scene.change.after].appears * SETTINGS.num_units)
    assert (happened[:cut, ..., CHANGE] == 0).all()
    assert set(np.unique(happened[cut:, ..., CHANGE])) == {0, CHANGES.index(what) + 1}


def test_training_evidence_covers_most_of_the_benchmark_s_evidence_tokens_and_no_others():
    grid, told_tokens, true_tokens = (SETTINGS.num_units, 6, 8), 0, 0
    for index in range(8):
        _, shares = render(sample_scene(0, "train", index, SETTINGS))
        for question in ask_about(0, "train", index, SETTINGS):
            mine = evidence_tokens(shares, question.evidence)
            parts = evidence_by_thing(0, "train", index, SETTINGS, question, grid)
            mask = parts.any(0).numpy()
            assert not (mine & ~mask).any()
            told_tokens, true_tokens = told_tokens + mine.sum(), true_tokens + mask.sum()
    assert told_tokens > 0.8 * true_tokens
