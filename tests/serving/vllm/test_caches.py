"""Kept tokens and compression records are right with each of vLLM's caches of videos.

Needs the environment of ``make test-vllm``.
"""

import pytest

pytest.importorskip("vllm", reason="vLLM is not installed here: make test-vllm")

import gleanvid
from gleanvid.models import load_model
from gleanvid.serving.vllm.client import Server
from gleanvid.serving.vllm.parts import file_part, frames_part
from tests.serving.vllm import running

QUESTION = {"type": "text", "text": "What colour is the triangle?"}
CLIPS = [running.CLIPS / f"{name}.mp4" for name in ("glimpse_1", "glimpse_2")]
CACHES = {
    "in shared memory": ["--mm-processor-cache-type", "shm"],
    "none": ["--mm-processor-cache-gb", "0"],
}


@pytest.fixture(scope="module", params=CACHES)
def served(request):
    with running.server("gleanvid", 0.75, *CACHES[request.param], image_rate=0.5) as url:
        yield Server(url)


@pytest.fixture(scope="module")
def runs():
    """Return the library's runs of ``QUESTION``, one for each clip."""
    model, method = load_model("builtin", device="cpu", dtype="float32"), gleanvid.GleanVID(0.25)
    return [
        gleanvid.ask(clip, QUESTION["text"], model, method, 16, num_frames=16) for clip in CLIPS
    ]


def test_answers_and_records_with_vllm_s_caches_equal_those_of_the_library(served, runs):
    before = served.records()["count"]
    for _ in range(2):  # in the second round, videos come from the cache
        for run in runs:
            part, more = frames_part(run.video)
            reply = served.ask([part, QUESTION], 16, **more)
            assert run.answer.startswith(reply.text.strip())
            assert reply.prompt_tokens == run.cost.prompt_tokens_kept
            (record,) = served.records(uuid=part["uuid"])["records"]
            assert record["keep"] == run.compression.keep.tolist()
        assert served.records()["count"] == before + len(runs)


def test_two_videos_of_one_request_have_separate_records(served, runs):
    for uuids in (("a", "b"), ("b", "c"), ("c", "a")):
        parts = [file_part(CLIPS[ord(uuid) % 2].read_bytes(), uuid) for uuid in uuids]
        served.ask([*parts, QUESTION], 2)
    found = {uuid: served.records(uuid=uuid)["records"] for uuid in "abc"}
    assert all(len(records) == 1 for records in found.values())
    assert found["a"][0]["keep"] == found["c"][0]["keep"] != found["b"][0]["keep"]
