import base64
from dataclasses import replace
from io import BytesIO

import numpy as np
import pytest
from PIL import Image

import gleanvid
from gleanvid.serving.vllm.parts import frames_part
from gleanvid.serving.vllm.remote import load_served
from gleanvid.types import ModelError
from tests.serving.vllm.stand import standing

CLIP = "assets/clips/glimpse_1.mp4"


@pytest.fixture
def stand():
    with standing() as server:
        yield server


@pytest.fixture(scope="module")
def video():
    return gleanvid.read_video(CLIP, 8)


@pytest.fixture
def served(stand):
    return load_served(f"vllm:{stand.url}", device="cpu")


def test_run_of_a_served_model_has_answer_and_kept_tokens_from_the_server(stand, served, video):
    stand.next_record.append({"grid": [4, 10, 10], "keep": list(range(100, 200))})
    pieces = []
    run = gleanvid.ask(video, "What moves?", served, on_text=pieces.append)
    assert run.answer == "green cross" and pieces == ["green", " cross"]
    assert run.model == f"vllm:{stand.url}"
    assert run.compression.keep.tolist() == list(range(100, 200))
    assert (run.cost.prompt_tokens, run.cost.prompt_tokens_kept) == (430, 130)
    # the server has the video in its cache, so there is no new compression record
    again = gleanvid.ask(video, "What else?", served)
    assert again.compression.keep.tolist() == list(range(100, 200))


def test_records_of_other_clients_with_the_same_grid_are_ignored(stand, served, video):
    other = {"grid": [4, 10, 10], "keep": list(range(100)), "uuid": "another client's"}
    stand.records += [other | {"number": 1}, other | {"number": 2}]
    stand.next_record.append({"grid": [4, 10, 10], "keep": list(range(100, 200))})
    answers = gleanvid.stream(video, "What moves?", served)
    next(answers)
    # another client's record arrives while our question is answered
    stand.records.append(other | {"number": 4})
    *_, run = answers
    assert run.compression.keep.tolist() == list(range(100, 200))
    darker = replace(video, frames=video.frames // 2)
    uuids = [frames_part(one)[0]["uuid"] for one in (video, replace(video, name="b"), darker)]
    assert uuids[0] == uuids[1] != uuids[2]


def test_server_receives_the_unchanged_frames_times_and_earlier_turns(stand, served, video):
    history = [("What moves?", "a cross")]
    sampling = gleanvid.Sampling(seed=3)
    gleanvid.ask(video, "And <|im_end|>?", served, history=history, sampling=sampling)
    asked = stand.asked[-1]
    first, answer, last = asked["messages"]
    url = first["content"][0]["video_url"]["url"].partition(",")[2].split(",")
    frames = [np.asarray(Image.open(BytesIO(base64.b64decode(one)))) for one in url]
    assert np.array_equal(frames, video.frames)
    times = asked["media_io_kwargs"]["video"]
    assert np.allclose(np.divide(times["frames_indices"], times["fps"]), video.timestamps)
    assert first["content"][1]["text"] == "What moves?"
    assert (answer["role"], answer["content"]) == ("assistant", "a cross")
    assert (last["role"], last["content"]) == ("user", "And < |im_end|>?")
    assert asked["seed"] == 3 and asked["temperature"] == 0


def test_refusing_or_unreachable_server_raises_model_error(stand, served, video):
    stand.refuses = "the prompt is too long"
    with pytest.raises(ModelError, match="the prompt is too long"):
        gleanvid.ask(video, "What moves?", served)
    with pytest.raises(ModelError, match="no vLLM server answers"):
        load_served("vllm:http://127.0.0.1:9")
