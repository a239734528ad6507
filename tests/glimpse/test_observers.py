import numpy as np
import pytest

from gleanvid.glimpse.questions.baselines import Baseline, read, table, write
from gleanvid.glimpse.questions.glances import glances
from gleanvid.glimpse.questions.observers import baselines
from gleanvid.glimpse.questions.questions import FAMILIES2, questions
from gleanvid.glimpse.world.scenes import sample_scene
from gleanvid.glimpse.world.world import ClipSettings, stream

SETTINGS = ClipSettings(num_frames=16, version=2)


@pytest.fixture(scope="module")
def found():
    with pytest.MonkeyPatch.context() as patch:
        # 100 training steps are enough for two question types.
        patch.setattr("gleanvid.glimpse.questions.observers._STEPS", 100)
        learnt = baselines(SETTINGS, learn=40, ask=24, families=("colour", "total"))
    return {one.family: one for one in learnt}


def test_single_frame_shows_a_colour_but_not_the_total_count(found):
    assert found["colour"].still > 0.9
    assert found["total"].still < 0.25 + 4 * np.sqrt(0.25 * 0.75 / 24)
    # counting the objects of a clip does not need the order of its frames
    assert found["total"].shuffled > 0.9
    assert all(one.blind < 0.25 + 4 * np.sqrt(0.25 * 0.75 / 24) for one in found.values())


def test_options_whose_objects_are_absent_from_a_frame_have_equal_features():
    scenes = (sample_scene(0, "train", index, SETTINGS) for index in range(400))
    scene, index = next((s, k) for k, s in enumerate(scenes) if s.theme == "sequence")
    asked = questions(scene, stream(0, "train", index, purpose=1, version=2))
    question = next(q for q in asked if q.family == "sequence")
    seen = glances(scene, question, [])
    units = (np.arange(8) + 0.5) / 8
    empty = [u for u in range(8) if sum(t.visible(units[u]) for t in scene.things) == 1]
    for u in empty:  # one option names the only visible object; others look alike
        rows = {tuple(row) for row in seen[u]}
        assert len(rows) == 2


def test_stored_baselines_cover_all_question_types_and_half_the_types_need_several_frames():
    facts, kept = read()
    assert [one.family for one in kept] == list(FAMILIES2) and facts["num_frames"] == 32
    assert 2 * sum(one.temporal for one in kept) >= len(kept)
    for one in kept:
        assert abs(one.blind - 0.25) < 4 * np.sqrt(0.25 * 0.75 / one.count), one.family


def test_baselines_are_read_back_as_written(tmp_path):
    one = Baseline("turn", 8, 0.25, 0.75, 0.5)
    write(tmp_path / "kept.json", [one], 16, 120)
    assert read(tmp_path / "kept.json") == ({"num_frames": 16, "learnt": 120}, [one])
    assert one.temporal and "| turn | 8 | 25.0 | 75.0 | 50.0 | yes |" in table([one])
    assert not Baseline("turn", 8, 0.25, 0.76, 0.5).temporal
