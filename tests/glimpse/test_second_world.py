from collections import Counter, defaultdict
from functools import cache
from itertools import pairwise

import numpy as np
import pytest

from gleanvid.glimpse.questions.common import name
from gleanvid.glimpse.questions.questions import FAMILIES2, normalise, questions
from gleanvid.glimpse.questions.temporal import FAMILIES
from gleanvid.glimpse.world.camera import centre, hidden
from gleanvid.glimpse.world.render import render
from gleanvid.glimpse.world.scenes import sample_scene
from gleanvid.glimpse.world.stories import STORIES
from gleanvid.glimpse.world.touching import undisturbed
from gleanvid.glimpse.world.world import ALWAYS, ClipSettings, stream

SETTINGS = ClipSettings(version=2)


@cache  # made on first use, so only in pytest processes that run these tests
def all_scenes():
    return [sample_scene(0, "train", index, SETTINGS) for index in range(500)]


@cache
def all_asked():
    return [
        (scene, question)
        for index, scene in enumerate(all_scenes())
        for question in questions(scene, stream(0, "train", index, purpose=1, version=2))
    ]


def told(theme):
    return [scene for scene in all_scenes() if scene.theme == theme]


def asked(family):
    found = [(scene, question) for scene, question in all_asked() if question.family == family]
    assert len(found) >= 5
    return found


def thing_named(scene, named):
    return next((thing for thing in scene.things if name(thing) == named), None)


def test_all_scene_themes_and_question_types_occur():
    assert {scene.theme for scene in all_scenes()} >= set(STORIES)
    assert {question.family for _, question in all_asked()} == set(FAMILIES2)
    for _, question in all_asked():
        assert len(set(question.options)) == 4 and question.answer in question.options
        assert normalise(question.answer) == question.answer and question.evidence


def test_camera_pans_shakes_and_drifts_in_some_shots_and_moves_ground_and_objects():
    shots = [shot for scene in all_scenes() for shot in scene.shots]
    assert all(shot.carries for shot in shots)
    for seen in (
        [any(shot.pan) for shot in shots],
        [shot.shake > 0 for shot in shots],
        [any(shot.drift) for shot in shots],
        [shot.light != (1.0, 1.0) for shot in shots],
        [bool(scene.posts) for scene in all_scenes()],
    ):
        assert 0.1 < np.mean(seen) < 0.9
    assert any(hidden(scene, t, 0.5) for scene in all_scenes() if scene.posts for t in scene.things)


def test_foreground_post_never_hides_an_object_whose_appearance_is_asked_about():
    for scene in all_scenes():
        for thing in scene.things if scene.posts else ():
            if thing.spans != ALWAYS:
                behind = [hidden(scene, thing, t) for t in scene.times() if thing.visible(t)]
                assert np.mean(behind) < 0.1


def test_object_centres_under_camera_motion_match_the_painted_pixels():
    plain = (scene for scene in all_scenes() if not scene.posts)
    scene = next(s for s in plain if s.shots[0].shake and any(s.shots[0].pan))
    _, shares = render(scene)
    for f, time in ((0, scene.times()[0]), (31, scene.times()[31])):
        for k, thing in enumerate(scene.things):
            rows, columns = np.nonzero(shares[f, k] > 0.6)
            for row, column in zip(rows, columns, strict=True):
                x, y = centre(scene, thing, time)
                assert np.hypot(16 * column + 8 - x, 16 * row + 8 - y) < 30


def test_sequence_question_s_answer_directly_precedes_or_follows_the_named_object():
    for scene, question in asked("sequence"):
        named = [t for t in scene.things if t.shape in question.text or t.colour in question.text]
        (known,) = named
        answer = thing_named(scene, question.answer)
        if "after" in question.text:
            known, answer = answer, known
        assert answer.ends <= known.appears
        between = [t for t in scene.things[:4] if answer.ends <= t.appears < known.appears]
        assert between == []


def test_duration_question_s_answer_is_visible_for_the_longest_or_shortest_time():
    for scene, question in asked("duration"):
        stays = {name(thing): thing.ends - thing.appears for thing in scene.things}
        best = max if "longest" in question.text else min
        assert question.answer == best(stays, key=stays.get) and set(question.options) == set(stays)
        assert all(b > 1.2 * a for a, b in pairwise(sorted(stays.values())))


def test_answer_on_a_replaced_object_is_the_object_that_disappears_or_appears_at_the_cut():
    for scene, question in asked("replaced"):
        cut, answer = scene.shots[1].start, thing_named(scene, question.answer)
        gone = "gone" in question.text or "before" in question.text
        assert (answer.ends if gone else answer.appears) == cut
        assert sum(thing.ends == cut for thing in scene.things) == 1


def test_total_question_s_answer_counts_objects_that_never_appear_together():
    for scene, question in asked("total"):
        words = ("two", "three", "four", "five")
        assert words.index(question.answer) + 2 == len(scene.things)
        for time in scene.times():
            assert sum(thing.visible(time) for thing in scene.things) == 1


def test_return_question_s_answer_is_the_only_object_that_comes_back():
    for scene, question in asked("returns"):
        spans = {name(thing): len(thing.spans) for thing in scene.things}
        assert [named for named, count in spans.items() if count > 1] == [question.answer]


def test_speed_question_s_objects_differ_clearly_in_speed():
    for scene, question in asked("speed"):
        ways = {}
        for thing in scene.things:
            places = np.array([thing.centre(time) for time in np.linspace(0, 1, 400)])
            ways[name(thing)] = np.linalg.norm(np.diff(places, axis=0), axis=1).sum()
        *slower, fastest = sorted(ways, key=ways.get)
        wanted = {"the fastest": fastest, "second fastest": slower[-1], "slowest": slower[-2]}
        key = next(
            word for word in ("second fastest", "slowest", "the fastest") if word in question.text
        )
        assert question.answer == wanted[key]
        assert all(ways[b] > 1.5 * ways[a] for a, b in pairwise([*slower, fastest]))


def test_cause_question_s_answer_is_the_object_whose_touch_starts_the_motion():
    scenes = told("cause")
    assert np.mean([undisturbed(*scene.things) for scene in scenes]) > 0.95
    for scene, question in asked("cause"):
        moved = scene.things[0]
        hit = moved.path[1][0]
        mover, other = scene.things[1:3]
        assert question.answer == name(mover) and {name(mover), name(other)} < set(question.options)
        near = 1.01 * (moved.radius(hit) + mover.radius(hit))
        assert np.hypot(*np.subtract(moved.centre(hit), mover.centre(hit))) < near
        assert np.hypot(*np.subtract(moved.centre(hit - 0.01), moved.centre(0))) < 1e-6


def test_collision_question_is_not_asked_if_another_object_is_touched_too():
    for scene, _ in asked("collision"):
        for time in scene.times():
            for one in scene.things[:2]:
                for other in scene.things[2:]:
                    apart = np.hypot(*np.subtract(one.centre(time), other.centre(time)))
                    assert apart >= one.radius(time) + other.radius(time)


@pytest.mark.parametrize("family", [*FAMILIES, "action"])
def test_wording_and_option_order_do_not_reveal_the_answer(family):
    places = Counter(question.options.index(question.answer) for _, question in asked(family))
    total = sum(places.values())
    assert max(places.values()) < 0.25 * total + 4 * np.sqrt(0.1875 * total)
    if family == "action":
        words = defaultdict(set)
        for _, question in asked(family):
            words[question.answer].add(len(question.text.split()))
        assert set(map(tuple, words.values())) == {(6,)}


def test_scenes_can_be_sampled_for_short_and_long_clips():
    for frames in (2, 8, 16, 128):
        settings = ClipSettings(96, 96, frames, version=2)
        for index in range(20):
            scene = sample_scene(0, "train", index, settings)
            assert frames >= 12 or scene.theme not in STORIES or scene.theme == "replaced"
    with pytest.raises(ValueError, match="num_frames=130 must be an even number from 2 to 128"):
        ClipSettings(num_frames=130, version=2)
    with pytest.raises(ValueError, match="version=3 must be 1 or 2"):
        ClipSettings(version=3)
