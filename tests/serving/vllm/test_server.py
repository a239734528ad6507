"""The OpenAI-compatible server: answers, token counts, compression records, wrong options.

Needs the environment of ``make test-vllm``.
"""

import re
import urllib.request

import pytest

pytest.importorskip("vllm", reason="vLLM is not installed here: make test-vllm")

import gleanvid
from gleanvid.models import load_model
from gleanvid.serving.vllm.client import Server
from gleanvid.serving.vllm.parts import file_part, frames_part
from gleanvid.serving.vllm.remote import load_served
from tests.serving.vllm import running

QUESTION = {"type": "text", "text": "What colour is the triangle?"}
CLIP = running.CLIPS / "glimpse_1.mp4"


@pytest.fixture(scope="module")
def served():
    with running.server({"name": "gleanvid", "tau": 3.0}, 0.75) as url:
        yield Server(url)


@pytest.fixture(scope="module")
def run():
    """Return the library's run of the question that the tests ask the server."""
    model = load_model("builtin", device="cpu", dtype="float32")
    method = gleanvid.GleanVID(0.25, tau=3.0)
    return gleanvid.ask(CLIP, QUESTION["text"], model, method, 16, num_frames=16)


def counted(server, name):
    text = urllib.request.urlopen(f"{server.url}/metrics").read().decode()
    found = re.search(rf"^{name}(?:{{.*}})? ([0-9.e+]+)$", text, re.MULTILINE)
    return float(found[1]) if found else 0.0


def test_served_frames_get_the_library_s_answer_and_a_record(served, run):
    part, more = frames_part(run.video)
    before, pieces = served.records()["count"], []
    kept, videos = (
        counted(served, "gleanvid_visual_tokens_kept_total"),
        counted(served, "gleanvid_videos_total"),
    )
    reply = served.ask([part, QUESTION], 16, on_text=pieces.append, **more)
    assert reply.text.strip() == run.answer and "".join(pieces) == reply.text
    assert reply.prompt_tokens == run.cost.prompt_tokens_kept
    told = served.records(before)
    assert told["method"] == run.compressor | {"retention_ratio": 0.25}
    assert told["pruning_rate"] == 0.75
    (record,) = told["records"]
    assert record["grid"] == [*run.compression.grid]
    assert record["keep"] == run.compression.keep.tolist()
    assert served.records(0, part["uuid"])["records"] == [record | {"uuid": part["uuid"]}]
    assert counted(served, "gleanvid_visual_tokens_kept_total") - kept == len(record["keep"])
    assert counted(served, "gleanvid_videos_total") - videos == 1


def test_video_sent_by_url_or_inside_the_request_is_encoded_once(served):
    before = served.records()["count"]
    address = {"type": "video_url", "video_url": {"url": CLIP.as_uri()}}
    replies = [served.ask([p, QUESTION], 8) for p in (address, file_part(CLIP.read_bytes()))]
    assert replies[0].text == replies[1].text
    # the server's caches recognise the clip, so the second request adds no compression record
    assert len(served.records(before)["records"]) == 1
    served.ask([file_part(CLIP.read_bytes(), uuid="another name"), QUESTION], 8)
    assert len(served.records(before)["records"]) == 2
    assert len(served.records(before, "another name")["records"]) == 1


def test_two_servers_answer_with_all_tokens_and_with_a_quarter_of_them(served, run):
    method, few = gleanvid.GleanVID(0.25, tau=3.0), len(run.compression.keep)
    with running.server(None, None) as whole:
        both = load_served(f"vllm:{served.url},{whole}", device="cpu", dtype="float32")
        quarter = gleanvid.ask(run.video, QUESTION["text"], both, method, 16)
        full = gleanvid.ask(run.video, QUESTION["text"], both, "full", 16)
    assert quarter.answer == run.answer
    assert quarter.compression.keep.tolist() == run.compression.keep.tolist()
    model = load_model("builtin", device="cpu", dtype="float32")
    assert full.answer == gleanvid.ask(run.video, QUESTION["text"], model, "full", 16).answer
    assert full.cost.prompt_tokens_kept == run.cost.prompt_tokens
    assert full.cost.prompt_tokens_kept - quarter.cost.prompt_tokens_kept == 4 * few - few


def test_vllm_server_with_an_unservable_compressor_exits_with_our_message():
    sentence = "holitom cannot be served by vLLM: it merges tokens"
    with pytest.raises(RuntimeError, match=sentence), running.server("holitom", 0.75):
        pass
