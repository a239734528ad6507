import numpy as np
import pytest

from gleanvid.glimpse.questions.clips import ask_about, make_video
from gleanvid.glimpse.questions.make import write_mp4
from gleanvid.glimpse.questions.questions import normalise
from gleanvid.glimpse.world.world import ClipSettings
from gleanvid.models import load_model
from gleanvid.video import read_video

SETTINGS = ClipSettings(num_frames=16)
CHANCE = 0.25


@pytest.fixture(scope="module")
def adapter():
    return load_model("builtin", device="cpu")


def verdicts(adapter, video, questions):
    """Return for every question whether the most likely option is the right one."""
    yield from chosen(adapter.conversation(adapter.encode(video), None), questions)


def chosen(conversation, questions):
    for question in questions:
        scores = conversation.score(question.text, question.options)
        yield question.options[int(np.argmax(scores))] == question.answer


def test_built_in_model_answers_held_out_questions_far_above_chance(adapter):
    rights = []
    for index in range(500, 503):
        asked = ask_about(0, "validation", index, SETTINGS)
        rights += verdicts(adapter, make_video(0, "validation", index, SETTINGS), asked)
    assert np.mean(rights) >= CHANCE + 0.25, np.mean(rights)


def test_built_in_model_is_at_chance_without_the_video(adapter):
    grey = make_video(0, "validation", 0, SETTINGS)
    grey.frames[:] = 128
    conversation = adapter.conversation(adapter.encode(grey), None)
    asked = [q for index in range(700, 706) for q in ask_about(0, "validation", index, SETTINGS)]
    rights = list(chosen(conversation, asked))
    assert abs(np.mean(rights) - CHANCE) < 4 * np.sqrt(CHANCE * (1 - CHANCE) / len(rights))


@pytest.mark.slow  # tests/components/page/test_first.py asks about MP4 files, too
def test_built_in_model_answers_open_ended_questions_about_mp4_files(adapter, tmp_path):
    rights, words = [], []
    for index in range(600, 602):
        write_mp4(make_video(0, "validation", index, SETTINGS).frames, tmp_path / "clip.mp4")
        video = read_video(tmp_path / "clip.mp4", num_frames=16)
        assert video.frames.shape[1:3] == (320, 320)
        asked = [
            question
            for question in ask_about(0, "validation", index, SETTINGS)
            if question.family in ("colour", "shape")
        ]
        rights += verdicts(adapter, video, asked)
        conversation = adapter.conversation(adapter.encode(video), None)
        words += [normalise(conversation.ask(q.text).text) == q.answer for q in asked]
    assert np.mean(rights) >= 0.5
    assert np.mean(words) >= 0.35
