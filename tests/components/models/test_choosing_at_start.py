import gradio as gr
import pytest

from components import launch
from components.jobs.engine import Engine
from components.jobs.local import BUILT_IN, PHOTOS
from components.models.choosing import Choosing
from components.models.offer_panel import ON_GPU, OfferPanel
from components.server.endpoints import Calls
from gleanvid.errors import BusyError
from gleanvid.models.loading.fit import Memory
from gleanvid.types import ModelError
from tests.components.fake import FakeBackend
from tests.components.models.test_choosing import NAME, scarce
from tests.components.models.test_picker import panel_of
from tests.local_hub import Repository


def started_with(*words):
    """Return the ``Choosing`` of a private server started with these options.

    The built-in model is loaded.
    """
    options = launch.parse([*words, "--device", "cpu"])
    engine = launch.make_engine(options)
    engine.model(BUILT_IN)
    return launch.make_choosing(engine, options)


def test_first_model_is_loaded_with_the_options_of_the_command_line(hub, monkeypatch, capsys):
    """The operator may load a model that seems too large; the terminal shows each stage once."""
    scarce(monkeypatch)
    hub.repositories[NAME].pause_s = 0.01
    choice = started_with("--model", NAME, "--dtype", "bfloat16")
    with pytest.raises(BusyError, match=f"{NAME} is being loaded"):
        choice.begin("another/model")
    assert not hub.requests
    choice.start()
    launch.report_choice(choice)
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("* Looking up") and lines[-1] == f"* {NAME} is ready."
    assert sum("Downloading" in line for line in lines) == 1
    assert choice.engine.name == NAME and choice.engine.knows(NAME)
    assert str(choice.engine.loaded().hf_model.dtype) == "torch.bfloat16"


@pytest.mark.parametrize(
    ("free_gb", "name"), [(84.9, "Qwen3-VL-32B"), (25.2, "Qwen3-VL-8B"), (0, "SmolVLM2-256M")]
)
def test_largest_recommended_model_that_fits_is_loaded_by_auto_and_offered_on_the_page(
    free_gb, name, monkeypatch, capsys
):
    there = Memory("cuda" if free_gb else "cpu", int(free_gb * 10**9), 85 * 10**9)
    monkeypatch.setattr("gleanvid.models.loading.fit.memory", lambda _: there)
    monkeypatch.setattr("torch.cuda.get_device_name", lambda _: "NVIDIA H100")
    options = launch.parse(["--model", "auto"])
    launch.choose_model(options)
    assert name in options.model and options.model in launch.names(options)
    said = capsys.readouterr().out[2:-1]
    assert said.startswith(f"NVIDIA H100, {free_gb:.0f} GB free: " if free_gb else "No GPU: ")
    assert f"{options.model}, " in said and said.endswith(" GB, Apache-2.0")
    choosing = Choosing(Engine(FakeBackend()))
    panel = panel_of(choosing)
    opened = panel.on_open({panel.name: "", panel.frames: 32})
    assert opened[panel.name] == options.model and said in opened[panel.known]["info"]
    assert panel.on_open({panel.name: "a/b", panel.frames: 32})[panel.name] == "a/b"
    with gr.Blocks():
        offer = OfferPanel(choosing)
        offer.model, offer.frames, offer.has_gpu = gr.Dropdown(), gr.Slider(), True
    shown = offer.on_model({offer.model: BUILT_IN, offer.frames: 32})
    assert shown[offer.row]["elem_classes"] == ([ON_GPU] if free_gb else [])
    assert name.replace("-", " ") in shown[offer.button]
    if free_gb:
        assert shown[offer.button].startswith(f"NVIDIA H100, {free_gb:.0f} GB free: load Qwen3 VL")
        assert shown[offer.button].endswith(" GB, Apache-2.0)")
    assert not offer.on_model({offer.model: "a/b", offer.frames: 32})[offer.row]["elem_classes"]


def progress_and_chosen_models(panel, **query):
    """Load a page; return the texts of the progress bar and the models chosen in the menu."""
    user = gr.Request(session_hash="page", query_params=query)
    items = [
        item for change in panel.on_first(user) if change != gr.skip() for item in change.items()
    ]
    texts = [value["text"] for widget, value in items if widget is panel.bar]
    return texts, [value["value"] for widget, value in items if widget is panel.menu]


def test_page_shows_loading_of_the_first_model_and_chooses_it_once_it_is_loaded(hub):
    choice = started_with("--model", NAME)
    panel = panel_of(choice)
    choice.start()
    texts, models = progress_and_chosen_models(panel)
    assert texts[0].startswith("Looking up") and texts[-1] == f"{NAME} is ready."
    assert models == [NAME]
    assert progress_and_chosen_models(panel) == ([], [NAME])  # page opened after the model loaded
    # A page whose link names another model keeps that model.
    assert progress_and_chosen_models(panel, model=BUILT_IN) == ([], [])


def test_endpoints_refuse_the_first_model_until_it_is_loaded(hub, monkeypatch):
    monkeypatch.setattr("components.server.endpoints.uploaded", lambda video: video)
    choice = started_with("--model", NAME)
    calls = Calls(choice.engine, [BUILT_IN], 32, coming=NAME)

    def asked(model):
        return calls._request("clip.mp4", 8, model, "uniform", 0.5, None, {}).model

    for model in ("", NAME):
        with pytest.raises(gr.Error, match=f"{NAME} is not loaded yet"):
            asked(model)
    with pytest.raises(gr.Error, match="must be one of builtin"):
        asked("another/model")
    assert asked(BUILT_IN) == BUILT_IN
    choice.start()
    assert list(choice.progress()) and asked("") == NAME


def test_public_server_loads_every_model_before_its_page_is_served(hub, published):
    hub.repositories["other/model"] = Repository(published)
    words = ["--public", "--model", NAME, "--offer", "other/model", "--device", "cpu"]
    options = launch.parse(words)
    engine, before = launch.make_engine(options), len(hub.requests)
    assert engine.name == NAME and engine.model(BUILT_IN) and engine.model(PHOTOS)
    assert all(engine.holds(name) for name in launch.names(options)) and len(hub.requests) == before
    hub.repositories["other/gated"] = Repository(published, gated=True)
    with pytest.raises(ModelError, match="accept its terms"):
        launch.make_engine(launch.parse(["--public", "--offer", "other/gated", "--device", "cpu"]))
