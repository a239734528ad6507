"""The whole page: it builds, has safe launch options, and all its jobs share one queue."""

from __future__ import annotations

import gradio as gr
import pytest

from components import launch
from components.panels.page import build_app
from components.server import serving
from components.session import examples
from components.session.actions import first
from components.session.work import local as loading
from components.session.work.engine import Engine
from tests.components.fake import FakeBackend


@pytest.fixture(scope="module")
def page():
    return build_app(Engine(FakeBackend()))


def test_building_the_page_loads_no_model():
    library = FakeBackend()
    build_app(Engine(library))
    assert (library.loads, library.reads, library.encodes) == (0, 0, 0)


def test_only_the_model_queue_orders_jobs(page):
    names = {"on_follow", "on_ask", "on_compare", "on_sweep", "ask", "compress"}
    shared = [fn for fn in page.fns.values() if fn.name in names | {"compare"}]
    assert {fn.name for fn in shared} == names | {"compare"}
    assert {fn.concurrency_limit for fn in shared} == {None}


def test_nothing_heavy_runs_on_page_load(page):
    """Loading a page reads only its link: no model, no clip."""
    loads = [fn for fn in page.fns.values() if any(event == "load" for _, event in fn.targets)]
    assert {fn.name for fn in loads if fn.fn is not None} == {"on_load"}


def test_the_state_of_a_page_holds_no_run(page):
    states = [block for block in page.blocks.values() if isinstance(block, gr.State)]
    saved = first.load().runs
    values = [state.value for state in states if state.value is not None]
    assert sorted(values, key=str) == sorted(["", saved, [], [], {}, {}], key=str)  # only ids
    assert all(isinstance(run_id, str) for run_id in saved)


def test_events_have_no_progress_indicators(page):
    """Gradio updates a progress indicator per output, which is slow on a large page."""
    told = [fn for fn in page.fns.values() if fn.fn and fn.outputs and fn.show_progress_on != []]
    on_page = [fn for fn in told if fn.api_visibility == "private"]
    assert not on_page


def test_events_are_few_as_gradio_searches_all_of_them_for_every_widget(page):
    events = page.config["dependencies"]
    assert len(events) <= 138 and sum(len(event["targets"]) for event in events) <= 148
    assert len(page.config["components"]) <= 194


def test_three_endpoints_are_public_and_say_their_types(page):
    info = page.get_api_info()["named_endpoints"]
    assert set(info) == {"/ask", "/compress", "/compare"}
    types = {item["parameter_name"]: item["type"] for item in info["/ask"]["parameters"]}
    assert types["question"] == {"type": "string"}
    assert types["retention_ratio"] == {"type": "number"}
    for end in info.values():
        assert "video" in end["description"]


def test_launch_options_share_nothing():
    options = serving.options("127.0.0.1", None, False)
    assert options["share"] is False and options["run_history"] is False
    assert options["allowed_paths"] == [] and options["enable_monitoring"] is False
    assert options["show_error"] is False and options["max_file_size"]


def test_only_assets_and_files_of_visitors_are_served(monkeypatch):
    root = serving.ROOT
    beside = {str(path) for path in root.iterdir()} - {str(root / "assets")}
    monkeypatch.setenv("GRADIO_TEMP_DIR", "/visitors")
    closed = set(serving.options("127.0.0.1", None, False)["blocked_paths"])
    assert closed == beside | {"/visitors/.lock"}
    monkeypatch.setenv("GRADIO_TEMP_DIR", str(root / "tests" / "cache"))
    assert set(serving.closed()) == beside - {str(root / "tests")} | {f"{root}/tests/cache/.lock"}


def test_example_thumbnails_are_served_in_place(tmp_path, monkeypatch):
    monkeypatch.setenv("GRADIO_TEMP_DIR", str(tmp_path))
    shown = examples.examples()
    build_app(Engine(FakeBackend()), examples=shown)
    assert len(shown) > 1 and not any(path.is_file() for path in tmp_path.rglob("*"))


def test_limits_of_a_public_launch_reach_the_server(monkeypatch):
    launched = {}
    monkeypatch.setattr(Engine, "warm_up", lambda self, name: None)
    monkeypatch.setattr(
        gr.Blocks, "launch", lambda page, **given: launched.update(given, page=page)
    )
    monkeypatch.setattr(gr.Blocks, "server", None, raising=False)
    monkeypatch.setattr(serving, "limit_connections", lambda server, proxies: None)
    monkeypatch.setattr(gr.Blocks, "block_thread", lambda page: None)
    launch.main(["--public"])
    lifespan = launched["app_kwargs"]["lifespan"]
    guard = lifespan.guard.keywords
    assert launched["page"]._queue.max_size == serving.PUBLIC.queue
    assert lifespan.keep_s == serving.PUBLIC.keep_s == 7200
    assert launched["max_file_size"] == "200mb" and guard["requests_per_minute"] == 600
    assert guard["uploads"].all_bytes == 20 * 2**30
    assert "gv-load" not in {block.elem_id for block in launched["page"].blocks.values()}


def test_arguments_default_to_a_private_page():
    parsed = launch.parse([])
    assert (parsed.host, parsed.port, parsed.share, parsed.model, parsed.mcp) == (
        "127.0.0.1",
        None,
        False,
        "builtin",
        False,
    )
    assert serving.limits(parsed) == serving.LOCAL


@pytest.fixture
def loads(monkeypatch):
    """What ``load_model`` is called with, by name."""
    from gleanvid import pipeline

    seen = {}
    monkeypatch.setattr(pipeline, "load_model", lambda name, **given: seen.update({name: given}))
    return seen


@pytest.mark.parametrize("option", ["--port=99999", "--port=-1", "--allow-host=a*.example"])
def test_bad_option_is_named(option, capsys):
    with pytest.raises(SystemExit):
        launch.parse([option])
    assert option in capsys.readouterr().err


def test_a_model_is_loaded_as_the_command_line_says(loads):
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


def test_loading_options_without_a_model_apply_to_the_built_in_one(loads):
    options = launch.parse(["--device", "cpu", "--dtype", "bfloat16"])
    Engine(loading.LocalBackend(launch.how_to_load(options))).model("builtin")
    assert (loads["builtin"]["device"], loads["builtin"]["dtype"]) == ("cpu", "bfloat16")


def test_mcp_without_its_package_is_refused_with_what_to_install(monkeypatch, capsys):
    monkeypatch.setattr(launch, "find_spec", lambda name: None)
    with pytest.raises(SystemExit):
        launch.parse(["--mcp"])
    assert "gleanvid[mcp]" in capsys.readouterr().err
    monkeypatch.setattr(launch, "find_spec", lambda name: object())
    assert launch.parse(["--mcp"]).mcp


@pytest.mark.parametrize("words", [["--public"], ["--share"]])
def test_a_page_for_strangers_has_tighter_limits(words):
    limits = serving.limits(launch.parse(words))
    for name in ("upload_mb", "max_frames", "deadline_s", "places", "keep_s"):
        assert getattr(limits, name) < getattr(serving.LOCAL, name)
    assert limits.requests_per_minute > 0 and limits.disk_gb > 0


def test_a_space_is_reached_from_outside_shown_in_its_frame_and_public(monkeypatch):
    monkeypatch.setenv("SPACE_ID", "someone/gleanvid")
    limits = serving.limits(launch.parse([]))
    assert limits == serving.PUBLIC
    served = serving.options("127.0.0.1", None, False, limits)
    assert served["server_name"] == "0.0.0.0"
    guard = served["app_kwargs"]["lifespan"].guard.keywords
    assert "https://huggingface.co" in guard["framed_by"]
    assert guard["hosts"][-1] == "*.hf.space" and guard["proxies"].trusts("10.16.0.1")


def test_limits_given_at_launch_count():
    limits = serving.limits(launch.parse(["--public", "--max-frames", "8", "--deadline", "5"]))
    assert (limits.max_frames, limits.deadline_s) == (8, 5.0)


OURS = ["builtin", "mobilenet_v2"]  # included in the package


def test_models_that_are_offered_stand_in_the_menu_after_the_one_given():
    options = launch.parse(["--offer", "a/b", "c/d", "--model", "c/d", "--offer", "e/f"])
    assert launch.names(options) == ["c/d", "a/b", "e/f", *OURS]
    assert launch.names(launch.parse([])) == OURS


def test_model_to_download_is_not_in_the_menu_of_a_private_server(tmp_path):
    options = launch.parse(["--model", "a/b", "--offer", "c/d", str(tmp_path), "vllm:http://host"])
    assert launch.available(options) == [str(tmp_path), "vllm:http://host", *OURS]
    assert launch.available(launch.parse(["--model", str(tmp_path)])) == [str(tmp_path), *OURS]


def test_a_name_with_a_precision_is_loaded_with_it_and_on_the_device_given(loads):
    options = launch.parse(["--device", "cpu"])
    library = loading.LocalBackend(launch.how_to_load(options), {"device": "cpu"})
    with pytest.raises(AttributeError):  # the stand-in gives no model that could be named
        library.load_model("a/b@4bit")
    assert loads["a/b"] == {"device": "cpu", "quantization": "4bit"}
