import json

import numpy as np
import pytest

from components.jobs import examples
from components.jobs.request import Request
from gleanvid.glimpse.questions.make import write_mp4


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "a.mp4").write_bytes(b"a clip")
    (tmp_path / "b.mp4").write_bytes(b"another clip")
    listed = [{"file": name, "title": name, "question": "What?"} for name in ("a.mp4", "b.mp4")]
    (tmp_path / "clips.json").write_text(json.dumps(listed))
    questions = [
        {"question": "What colour?", "answer": "red", "options": ["red", "blue"]},
        {"text": "What shape?", "answer": "cross"},
    ]
    (tmp_path / "a.json").write_text(json.dumps({"questions": questions, "things": []}))
    return tmp_path


def test_upload_with_the_file_name_of_an_example_has_no_right_answers(folder, tmp_path_factory):
    shown = examples.examples(folder)
    first = examples.example_of(shown, str(folder / "a.mp4"))
    assert first.expected(" What shape? ") == "cross" and first.expected("Else?") is None
    assert examples.example_of(shown, str(folder / "b.mp4")).expected("What shape?") is None
    other = tmp_path_factory.mktemp("up") / "a.mp4"
    other.write_bytes(b"some upload of the same name")
    assert examples.example_of(shown, str(other)) is examples.example_of(shown, None) is None


def test_clip_switches_between_built_in_model_and_photo_encoder_but_not_from_other_models(folder):
    glimpse, filmed = examples.examples(folder)
    offered = ["builtin", "mobilenet_v2", "a/b"]
    assert examples.model_for(filmed, "builtin", offered) == "mobilenet_v2"
    assert examples.model_for(None, "builtin", offered) == "mobilenet_v2"
    assert examples.model_for(glimpse, "mobilenet_v2", offered) == "builtin"
    assert examples.model_for(glimpse, "a/b", offered) == examples.model_for(None, "a/b", offered)
    assert examples.model_for(None, "a/b", offered) == "a/b"
    assert examples.model_for(None, "builtin", ["builtin"]) == "builtin"


def test_built_in_model_is_not_offered_for_a_clip_that_is_not_glimpse_s(folder):
    glimpse, filmed = examples.examples(folder)
    menu = [("Tiny", "builtin"), ("Photo encoder", "mobilenet_v2"), ("Else", "a/b")]
    assert examples.models_for(glimpse, menu) == menu
    assert examples.models_for(filmed, menu) == examples.models_for(None, menu) == menu[1:]
    assert examples.models_for(None, menu[:1]) == menu[:1]


def test_uploaded_glimpse_clip_is_asked_in_known_forms_by_the_built_in_model(folder, tmp_path):
    write_mp4(np.zeros((2, 16, 16, 3), np.uint8), tmp_path / "own.mp4")
    own = examples.uploaded(str(tmp_path / "own.mp4"))
    assert examples.model_for(own, "mobilenet_v2", ["builtin", "mobilenet_v2"]) == "builtin"
    assert own.expected("What shape?") is None and examples.ready(own) == []
    request = Request(str(own.path), 8, "builtin", example=own)
    assert request.missing("What colour is the diamond?") == ""
    assert "“cat”" in request.missing("Where is the cat?")
    assert examples.uploaded(str(folder / "a.mp4")) is examples.uploaded(None) is None
