import pytest

pytest.importorskip("gradio_client")

import httpx
from gradio_client import Client, handle_file
from gradio_client.exceptions import AppError

from components.jobs.engine import Engine
from components.page.page import build_app
from components.server import serving
from tests.components.fake import FakeBackend, write_clip


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("api")


@pytest.fixture(scope="module")
def library():
    return FakeBackend()


@pytest.fixture(scope="module")
def client(folder, library):
    page = build_app(Engine(library), limits=serving.PUBLIC)
    options = serving.options("127.0.0.1", None, False)
    _, url, _ = page.queue().launch(**options, prevent_thread_lock=True, quiet=True)
    yield Client(url, verbose=False, download_files=False, analytics_enabled=False)
    page.close()


@pytest.fixture(scope="module")
def clip(folder):
    write_clip(folder / "clip.mp4")
    return handle_file(str(folder / "clip.mp4"))


def test_ask_endpoint_returns_the_answer_and_its_cost(client, clip):
    run = client.predict(
        video=clip, question="What moves?", retention_ratio=0.5, frames=8, api_name="/ask"
    )
    assert run["answer"].startswith("word0") and run["compressor"]["retention_ratio"] == 0.5
    assert sum(run["budgets"]) == run["cost"]["visual_tokens_kept"]


def test_call_that_is_stopped_within_its_answer_is_no_failure_in_the_log(
    client, clip, library, monkeypatch, caplog
):
    monkeypatch.setattr(library, "stream_answer", lambda *_: (text for text in ("word0 ",)))
    with pytest.raises(AppError):
        client.predict(video=clip, question="What moves?", frames=8, api_name="/ask")
    assert "failure" not in caplog.text and "failed" not in caplog.text


def test_compress_endpoint_chooses_tokens_without_a_question(client, clip):
    kept = client.predict(
        video=clip, compressor="uniform", retention_ratio=0.25, frames=8, api_name="/compress"
    )
    units, rows, columns = kept["grid"]
    assert len(kept["keep"]) == units * rows * columns // 4 == sum(kept["budgets"])


def test_compare_endpoint_returns_a_row_for_each_method(client, clip):
    rows = client.predict(
        video=clip,
        question="What moves?",
        compressors=["gleanvid", "uniform"],
        retention_ratios=[0.25],
        frames=8,
        api_name="/compare",
    )
    assert [row["method"] for row in rows] == ["All tokens", "GleanVID 25 %", "Uniform 25 %"]
    assert rows[1]["agreement"] == 1.0


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"compressor": "evil"}, "compressor='evil' must be one of"),
        ({"model": ["builtin"]}, r"model=\['builtin'\] must be one of"),
        ({"model": "../../secret"}, "must be one of builtin"),
        ({"frames": 10_000}, r"frames=10000 must be a whole number in \[1, 32\]"),
        ({"retention_ratio": 7}, "retention_ratio=7"),
        ({"settings": {"alpha_min": 9}}, "alpha_min=9"),
        ({"settings": [1]}, r"settings=\[1\] must be a JSON object"),
        ({"settings": {"name": "floc"}}, "settings must not hold the name of a compressor"),
        ({"question": "x" * 10_001}, "10,000 characters; this one has 10,001"),
    ],
)
def test_invalid_endpoint_arguments_are_refused_with_a_reason(client, clip, change, sentence):
    given = {"video": clip, "question": "What?", "frames": 8} | change
    with pytest.raises(Exception, match=sentence):
        client.predict(**given, api_name="/ask")


def ask_without_upload(client, path):
    """Call ``ask`` with this path as it is; gradio_client would upload the file first."""
    call = f"{client.src}gradio_api/call/ask"
    file = {"path": path, "meta": {"_type": "gradio.FileData"}}
    data = [file, "What?", "gleanvid", 0.25, "", 8, None, 0, 0.0, 8, 1.0, 0]
    reply = httpx.post(call, json={"data": data})
    if reply.status_code != 200:
        return reply.text
    return httpx.get(f"{call}/{reply.json()['event_id']}", timeout=20).text


def test_endpoint_accepts_the_path_of_an_upload_and_no_other_path(client, clip, folder, library):
    sent = {"files": ("clip.mp4", (folder / "clip.mp4").read_bytes())}
    path = httpx.post(f"{client.src}gradio_api/upload", files=sent).json()[0]
    assert "event: complete" in ask_without_upload(client, path)
    beyond = f"{path}/../../../etc/passwd"
    assert "event: complete" not in ask_without_upload(client, beyond)


def test_health_check_answers(client):
    reply = httpx.get(f"{client.src}healthz")
    assert reply.json() == {"status": "ok"} and reply.headers["x-content-type-options"] == "nosniff"
