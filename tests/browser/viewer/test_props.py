from typing import Any

import pytest

from components.server import serving
from components.tokens.answers import answer
from components.viewer.payload import publish
from tests.browser.conftest import listen
from tests.browser.steps import until
from tests.browser.viewer.case import OTHER, PRUNED

gr = pytest.importorskip("gradio", reason="needs the app extra")
IDS = ["r0", "r1", "r2", "r3"]
SHOWN = "text => document.querySelector('[data-side=b] .gv-reply')?.textContent.includes(text)"


@pytest.fixture(scope="module")
def heard():
    return []


@pytest.fixture(scope="module")
def address(browser, case, heard):
    from components.viewer.component import EVENTS, MaskViewer

    value = publish(case.packed) | {"runs": IDS, "a": PRUNED, "b": OTHER}

    def stream():
        for words in ("a red", "a red circle and", "a red circle and a star"):
            yield gr.update(answers=[answer(words, "r3", "b", running=True)])
        both = [answer("a red circle", "r0"), answer("a red circle and a star", "r3")]
        yield gr.update(answers=both)

    with gr.Blocks() as page:
        viewer = MaskViewer(value, choices=[("vcast", "V-CAST")])
        gr.Button("Stream").click(stream, None, viewer, show_progress="hidden")
        gr.Button("Masks").click(lambda: value | {"b": 1}, None, viewer)
        for name in EVENTS:
            getattr(viewer, name)(listener(heard, name), None, None)
    ours = serving.options("127.0.0.1", None, False)
    modules = {"routes": ours["app_kwargs"]["routes"]}
    silent = {"prevent_thread_lock": True, "quiet": True, "ssr_mode": False, "_frontend": False}
    page.launch(**silent, app_kwargs=modules, head=ours["head"])
    yield page.local_url
    page.close()


def listener(heard: list[Any], name: str) -> Any:
    def hear(event: gr.EventData) -> None:
        heard.append((name, *(event._data.get(key) for key in ("a", "b", "side", "name"))))

    return hear


@pytest.fixture
def page(window, address):
    page = listen(window)
    page.goto(address)
    page.wait_for_selector(".gv-viewer[data-state=ready]")
    yield page
    page.close()


def test_streamed_answers_appear_on_their_side_without_sending_masks_again(page):
    before = len(page.requested)
    page.get_by_role("button", name="Stream").click()
    page.wait_for_function(SHOWN, arg="a red circle and a star")
    page.wait_for_selector("[data-side=b] .gv-agrees")
    assert page.locator("[data-side=b] mark").all_inner_texts() == ["and", "a", "star"]
    assert page.locator("[data-side=b] .gv-agrees").inner_text() == "67 % words shared with A"
    fetched = [url for url in page.requested[before:] if url.endswith((".jpg", ".bin"))]
    assert fetched == [] and page.errors == []
    page.get_by_role("button", name="Masks").click()
    page.wait_for_selector("[data-pick=b] option:checked >> text=PruneVid", state="attached")
    assert page.locator("[data-side=a] .gv-reply").inner_text() == "a red circle"


def test_choices_made_in_the_viewer_reach_python_once_each(page, heard):
    heard.clear()
    page.select_option("[data-pick=b] select", "1")
    page.get_by_role("button", name="Swap").click()
    page.get_by_role("button", name="Pin B as A").click()
    page.select_option("[data-pick=b] select", "run:vcast")
    until(page, lambda: len(heard) >= 4)
    page.wait_for_timeout(300)
    assert sorted(heard, key=str) == [
        ("method", None, None, "b", "vcast"),
        ("pair", "r0", "r1", None, None),
        ("pin", "r0", "r0", None, None),
        ("swap", "r1", "r0", None, None),
    ]
    # The menu shows the new method only once Python has sent its run.
    assert page.input_value("[data-pick=b] select") == "0"
