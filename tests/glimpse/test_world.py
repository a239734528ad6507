import hashlib
from functools import cache

import numpy as np
import pytest

from gleanvid.glimpse.questions.clips import ask_about
from gleanvid.glimpse.world.render import boxes, coverage, render
from gleanvid.glimpse.world.scenes import sample_scene
from gleanvid.glimpse.world.world import COLOURS, ClipSettings


@cache  # made on first use, so only in pytest processes that run these tests
def all_scenes():
    return [sample_scene(0, "train", index) for index in range(300)]


# digest of 120 scenes, digest of their questions, mean grey levels of the first 4 clips
SEED_1 = "ae1ce5bd33b87e52", "d2687488f6943862", [88.778, 175.46, 113.675, 75.648]


def digest(values):
    return hashlib.sha256("".join(map(repr, values)).encode()).hexdigest()[:16]


def facts_of(thing):
    path = [tuple(round(float(number), 4) for number in knot) for knot in thing.path]
    spans = [tuple(round(float(edge), 4) for edge in span) for span in thing.spans]
    return thing.shape, thing.colour, thing.size, thing.behaviour, path, spans


def test_scenes_questions_and_frames_of_a_seed_never_change():
    scenes = [sample_scene(1, "test", index) for index in range(120)]
    asked = [q for index in range(120) for q in ask_about(1, "test", index)]
    greys = [float(render(scene).mean()) for scene in scenes[:4]]
    found = (
        digest([(scene.theme, *map(facts_of, scene.things)) for scene in scenes]),
        digest([(question.text, question.answer, question.options) for question in asked]),
        pytest.approx(greys, abs=0.01),
    )
    assert found == SEED_1
    again = sample_scene(1, "test", 0)
    assert again == scenes[0] and np.array_equal(render(again), render(scenes[0]))


def test_object_coverage_of_tokens_equals_rendered_pixels_and_lies_in_the_boxes():
    for scene in [s for s in all_scenes() if not s.noise and not s.flicker][:3]:
        frames, fine = render(scene), coverage(scene, 160, 160)
        assert frames.shape == (32, 160, 160, 3) and frames.dtype == np.uint8
        cells = fine.reshape(32, -1, 10, 16, 10, 16).mean((3, 5))
        assert np.allclose(coverage(scene, 10, 10), cells, atol=1e-5)
        held = boxes(scene, scene.times()[3])
        for k, share in enumerate(fine[3]):
            painted = frames[3][share > 0.999].astype(float)
            assert np.abs(painted - COLOURS[scene.things[k].colour]).max(initial=0) < 13
            rows, columns = np.nonzero(share > 0.5)
            assert (k in held) or not len(rows)
            if len(rows):
                left, top, right, bottom = held[k]
                # the box may miss the tips of stars and the corners of turned squares
                reach = 0.35 * (right - left)
                assert left - reach <= columns.min() and columns.max() <= right + reach
                assert top - reach <= rows.min() and rows.max() <= bottom + reach


@pytest.mark.parametrize(
    ("label", "value"),
    [("height", 40), ("height", 100), ("width", 8), ("num_frames", 66), ("num_frames", 7)],
)
def test_error_for_invalid_clip_settings_names_the_setting(label, value):
    with pytest.raises(ValueError, match=label):
        ClipSettings(**{label: value})
