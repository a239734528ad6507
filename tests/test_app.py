"""The app: its page, its launch options, and the one queue for all model calls."""

import json
from types import SimpleNamespace

import gradio as gr
import pytest

from components import launch, options
from components.jobs import local as loading
from components.jobs.engine import Engine
from components.page.page import build_app
from components.places import ROOT
from components.server import serving, uploads
from tests.components.fake import FakeBackend


@pytest.fixture(scope="module")
def page():
    return build_app(Engine(FakeBackend()))


def test_building_the_page_loads_no_model():
    library = FakeBackend()
    build_app(Engine(library))
    assert (library.loads, library.reads, library.encodes) == (0, 0, 0)


def test_gradio_limits_no_concurrency_so_that_only_the_model_queue_orders_jobs(page):
    names = {"on_follow", "on_ask", "on_compare", "ask", "compress"}
    shared = [fn for fn in page.fns.values() if fn.name in names | {"compare"}]
    assert {fn.name for fn in shared} == names | {"compare"}
    assert {fn.concurrency_limit for fn in shared} == {None}


def test_three_api_endpoints_are_public_with_documented_types(page):
    info = page.get_api_info()["named_endpoints"]
    assert set(info) == {"/ask", "/compress", "/compare"}
    types = {item["parameter_name"]: item["type"] for item in info["/ask"]["parameters"]}
    assert types["question"] == {"type": "string"}
    assert types["retention_ratio"] == {"type": "number"}
    for end in info.values():
        assert "video" in end["description"]


def test_launch_options_disable_sharing_monitoring_and_error_details():
    options = serving.options("127.0.0.1", None, False)
    assert options["share"] is False and options["run_history"] is False
    assert options["allowed_paths"] == [] and options["enable_monitoring"] is False
    assert options["show_error"] is False and options["max_file_size"]


def test_page_does_not_say_where_the_app_is_installed(tmp_path, monkeypatch):
    monkeypatch.setenv("GRADIO_TEMP_DIR", str(tmp_path))
    with uploads.own_folder():
        page = launch.make_page(Engine(FakeBackend()), None, launch.parse([]))
    content = json.dumps([page.get_config_file(), page.get_api_info()], default=str)
    assert "glimpse_1.mp4" in content and str(ROOT) not in content


def test_limits_of_a_public_app_reach_its_server(monkeypatch):
    launched = {}
    monkeypatch.setattr(Engine, "warm_up", lambda self, name: None)
    monkeypatch.setattr(
        gr.Blocks, "launch", lambda page, **given: launched.update(given, page=page)
    )
    server = SimpleNamespace(config=SimpleNamespace())
    monkeypatch.setattr(gr.Blocks, "server", server, raising=False)
    monkeypatch.setattr(gr.Blocks, "block_thread", lambda page: None)
    launch.main(["--public"])
    guard = launched["app_kwargs"]["middleware"][0].kwargs
    assert launched["page"]._queue.max_size == serving.PUBLIC.queue
    assert server.config.limit_concurrency == serving.CONNECTIONS
    assert launched["max_file_size"] == "200mb" and guard["events"] == 6
    assert (guard["uploads"].all_bytes, guard["uploads"].keep_s) == (20 * 2**30, 7200)
    assert "gv-load" not in {block.elem_id for block in launched["page"].blocks.values()}


@pytest.fixture
def loads(monkeypatch):
    from gleanvid.api import pipeline

    seen = {}
    monkeypatch.setattr(pipeline, "load_model", lambda name, **given: seen.update({name: given}))
    return seen


WRONG = ["--port=99999", "--port=-1", "--allow-host=a*.example", "--trusted-proxy=nonsense"]


@pytest.mark.parametrize("option", WRONG)
def test_invalid_app_option_is_refused_by_name(option, capsys):
    with pytest.raises(SystemExit):
        launch.parse([option])
    assert option.partition("=")[2] in capsys.readouterr().err


def test_app_loads_its_model_with_the_options_of_the_command_line(loads):
    words = "--model a/b --device-map auto --quantization 4bit --dtype bfloat16 --max-pixels 999"
    more = "--attn-implementation sdpa --model-setting spatial_pool_mode=average"
    engine = Engine(
        loading.LocalBackend(launch.how_to_load(launch.parse(f"{words} {more}".split())))
    )
    for name in ("a/b", "builtin"):
        engine.model(name)
    assert loads["a/b"] == {
        "device": None,
        "dtype": "bfloat16",
        "attn_implementation": "sdpa",
        "device_map": "auto",
        "quantization": "4bit",
        "max_pixels": 999,
        "settings": {"spatial_pool_mode": "average"},
    }
    assert loads["builtin"] == {"device": None}


def test_mcp_option_without_the_mcp_package_says_what_to_install(monkeypatch, capsys):
    monkeypatch.setattr(options, "find_spec", lambda name: None)
    with pytest.raises(SystemExit):
        launch.parse(["--mcp"])
    assert "gleanvid[mcp]" in capsys.readouterr().err
    monkeypatch.setattr(options, "find_spec", lambda name: object())
    assert launch.parse(["--mcp"]).mcp


@pytest.mark.parametrize("words", [["--public"], ["--share"]])
def test_public_app_has_lower_limits_than_a_private_one(words):
    limits = serving.limits(launch.parse(words))
    for name in ("upload_mb", "max_frames", "deadline_s", "places", "keep_s"):
        assert getattr(limits, name) < getattr(serving.LOCAL, name)
    assert limits.events > 0 and limits.disk_gb > 0


def test_app_on_a_hugging_face_space_is_public_reachable_and_embeddable(monkeypatch):
    monkeypatch.setenv("SPACE_ID", "someone/gleanvid")
    limits = serving.limits(launch.parse([]))
    assert limits == serving.PUBLIC
    served = serving.options("127.0.0.1", None, False, limits)
    assert served["server_name"] == "0.0.0.0"
    guard = served["app_kwargs"]["middleware"][0].kwargs
    assert "https://huggingface.co" in guard["framed_by"] and guard["hosts"][-1] == "*.hf.space"
    assert "10.0.0.0/8" in serving.trusted(False, [])
    monkeypatch.setenv("SPACE_HOST", "someone-gleanvid.hf.space")
    assert serving.reached_by("0.0.0.0", False, [])[-1] == "someone-gleanvid.hf.space"


def test_limits_given_on_the_command_line_override_public_defaults():
    limits = serving.limits(launch.parse(["--public", "--max-frames", "8", "--deadline", "5"]))
    assert (limits.max_frames, limits.deadline_s) == (8, 5.0)


OURS = ["builtin", "mobilenet_v2"]  # models that the package includes


def test_model_menu_lists_the_given_model_before_offered_models():
    options = launch.parse(["--offer", "a/b", "c/d", "--model", "c/d", "--offer", "e/f"])
    assert launch.names(options) == ["c/d", "a/b", "e/f", *OURS]
    assert launch.names(launch.parse([])) == OURS


def test_model_not_yet_downloaded_is_not_in_a_private_server_s_menu(tmp_path):
    options = launch.parse(["--model", "a/b", "--offer", "c/d", str(tmp_path), "vllm:http://host"])
    assert launch.available(options) == [str(tmp_path), "vllm:http://host", *OURS]
    assert launch.available(launch.parse(["--model", str(tmp_path)])) == [str(tmp_path), *OURS]
