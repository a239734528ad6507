import json
from pathlib import Path

import pytest

from components.jobs.engine import Engine
from components.jobs.examples import Example
from components.jobs.request import Request, Sides
from components.page import restore
from components.tokens.ask import ask
from components.tokens.preview import preview
from tests.components.fake import FakeBackend


@pytest.fixture
def clip(clip, cache):
    return Path(clip)


@pytest.fixture
def page(clip):
    engine, runs = Engine(FakeBackend()), ()
    example = Example(clip, "Clip", "", (("Where is the star?", "Red."),))
    for question in ("What colour is the star?", "Where is the star?"):
        runs = viewer_runs_after_asking(engine, clip, question, runs, example=example)
    request = Request(str(clip), 8, "builtin", settings={"retention_ratio": 0.5}, example=example)
    return engine, list(preview(engine, request, Sides(runs, question="Where is the star?")))[-1]


def viewer_runs_after_asking(engine, clip, question, runs=(), **more):
    engine.pages.start("me")
    request = Request(str(clip), 8, "builtin", **more)
    parts = list(ask(engine, "me", request, Sides(runs, question=question)))
    return next(part.runs for part in reversed(parts) if part.runs)


def kept(runs, **more) -> str:
    return json.dumps({"shown": runs, **more})


def restored(engine, text, *known):
    """Restore a reloaded page; the server still has only the uploads at the paths ``known``."""
    ends = {"/".join(path.parts[-2:]): str(path) for path in known}
    return restore.restored(engine, text, ends.get)


def test_reloaded_page_restores_clip_viewer_and_answers(page, clip):
    engine, last = page
    back = restored(engine, kept(last.runs))
    assert back.text == restore.BACK and back.path == str(clip)
    assert back.view.runs == last.runs == back.view.value["runs"]
    assert back.view.value["methods"] == last.viewer["methods"]
    assert back.view.value["novelty"] == last.viewer["novelty"] is not None
    assert (back.view.value["a"], back.view.value["b"]) == (1, 0)
    assert back.view.answers == last.answers and last.answers[0]["right"] is False


def test_reloaded_page_mentions_results_that_are_no_longer_stored(page, clip):
    engine, last = page
    clip.unlink()
    back = restored(engine, kept([*last.runs, "gone"]))
    assert restore.NO_CLIP in back.text and restore.SOME_GONE in back.text
    assert back.path is None and back.view.runs == last.runs
    lost = restored(Engine(FakeBackend()), kept(last.runs))
    assert lost == restore.Restored(restore.ALL_GONE)


@pytest.mark.parametrize(
    "text", [None, "", "no", "[]", "{}", '{"shown": 3}', '{"shown": []}', "[" * 9000]
)
def test_malformed_saved_page_state_restores_nothing(text):
    assert restored(Engine(FakeBackend()), text) is None


def test_run_ids_beyond_the_limit_in_a_saved_page_state_are_ignored():
    many = [f"id {index}" for index in range(99)]
    assert restore.kept(kept(many)) == restore.Kept(many[: restore.MAX_METHODS])


def test_reloaded_page_mentions_lost_uploads_only_if_an_upload_is_missing(page, clip):
    engine, last = page
    picture = "data:image/jpeg;base64,AA"
    shelf = [{"clip": f"{clip.parent.name}/clip.mp4", "picture": picture}]
    gone = {"clip": "b/c.mp4", "picture": "https://elsewhere"}
    back = restored(engine, kept(last.runs, own=[*shelf, gone]), clip)
    assert back.text == f"{restore.BACK} {restore.NO_SHELF}" and back.own == {str(clip): picture}
    assert restored(engine, kept(last.runs, own=shelf), clip).text == restore.BACK
    assert restored(engine, kept([], own=[gone])) == restore.Restored(restore.NO_SHELF)
    for sent in (gone["picture"], f'{picture}"><b>', f"{picture}\n", 7):
        assert restore.kept(kept([], own=[gone | {"picture": sent}])).own == {"b/c.mp4": ""}


def test_upload_without_results_yet_is_restored_as_the_chosen_clip(page, clip):
    chosen = f"{clip.parent.name}/clip.mp4"
    text = kept([], own=[{"clip": chosen, "picture": ""}], clip=chosen)
    back = restored(page[0], text, clip)
    assert back == restore.Restored("", None, str(clip), {str(clip): ""})
    assert restored(page[0], text).text == restore.NO_SHELF


def test_run_ids_cannot_be_guessed(page):
    _, last = page
    # Ids have 128 random bits.
    assert len(set(last.runs)) > 2 and all(len(run_id) >= 22 for run_id in last.runs)
