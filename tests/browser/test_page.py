"""The page in a real browser: what a person does, and what must not happen meanwhile."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import urlsplit

import pytest

from tests.browser.conftest import listen, opened

PIXELS = """() => {
  const canvas = document.querySelector(".gv-frame");
  const data = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data;
  let sum = 0;
  for (let i = 0; i < data.length; i += 4) sum += data[i] + data[i + 1] + data[i + 2];
  return sum / (data.length / 4);
}"""


def caption(page) -> str:
    return page.locator(".gv-caption").inner_text()


def settle(page) -> None:
    page.evaluate(
        "() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))"
    )


def notice(page, text: str) -> None:
    page.wait_for_function(
        "text => document.querySelector('.gv-notice')?.textContent.includes(text)", arg=text
    )


def ask(page, question: str) -> None:
    page.get_by_label("Question", exact=True).fill(question)
    page.click("#gv-ask")


def tab(page, name: str) -> None:
    page.get_by_role("tab", name=name, exact=True).click()


def test_from_upload_to_export(visit, clips):
    """The whole way: upload, ask, tokens, compare, a side of the viewer, a file."""
    visit.locator("#gv-clip").get_by_label("Clear").click()
    visit.locator("#gv-clip input[type=file]").set_input_files(str(clips / "square.mp4"))
    notice(visit, "Used 32")
    ask(visit, "What moves?")
    visit.wait_for_selector(".gv-cost")
    assert visit.locator(".gv-answer").inner_text().startswith("word0 word1")
    cost = visit.locator(".gv-cost").inner_text()
    for part in ("GleanVID 25 %", "visual tokens", "to first token", "tokens/s", "peak", "FLOPs"):
        assert part in cost
    assert "tokens kept" in caption(visit)
    assert visit.is_enabled("#gv-ask") and visit.is_disabled("#gv-stop")
    tab(visit, "Compare")
    visit.click("#gv-compare-start")
    visit.wait_for_selector(".gv-table tr:nth-child(6).gv-done")
    visit.wait_for_selector("#gv-compare-start:not([disabled])")
    assert visit.locator(".gv-result").count() == 6
    visit.get_by_label("Show VidCom2 25 % as B in the viewer").click()
    tab(visit, "Tokens")
    assert visit.locator("[data-pick=b] select option:checked").inner_text() == "VidCom2 25 %"
    tab(visit, "Export and API")
    with visit.expect_download() as waiting:
        visit.get_by_role("button", name="Units (CSV)").click()
    lines = waiting.value.path().read_text(encoding="utf-8").splitlines()
    failed = visit.locator(".gv-table tr.gv-failed").count()  # the stand-in has no saliency
    assert len(lines) == 1 + (6 - failed) * 16
    assert sum(line.startswith("VidCom2 25 %") for line in lines) == 16
    assert visit.errors == []


def test_a_saved_run_opens_again(visit, tmp_path):
    ask(visit, "Which one?")
    visit.wait_for_selector(".gv-cost")
    tab(visit, "Export and API")
    with visit.expect_download() as waiting:
        visit.get_by_role("button", name="Whole run (ZIP)").click()
    waiting.value.save_as(tmp_path / "run.zip")
    visit.reload()
    tab(visit, "Export and API")
    with visit.expect_file_chooser() as choosing:
        visit.get_by_role("button", name="Open a saved run (ZIP)").click()
    choosing.value.set_files(str(tmp_path / "run.zip"))
    notice(visit, "A saved run, opened")
    assert visit.locator(".gv-question").inner_text() == "Which one?"


def test_releasing_the_ratio_changes_masks_and_address_and_encodes_nothing(visit, library):
    encodes, before = library.encodes, caption(visit)
    slider = visit.get_by_label("range slider for Retention ratio")
    slider.focus()
    visit.keyboard.press("PageUp")
    visit.wait_for_function(
        "old => document.querySelector('.gv-caption').textContent !== old", arg=before
    )
    assert library.encodes == encodes
    visit.wait_for_function("location.search.includes('retention_ratio=')")
    assert visit.errors == []


def test_a_link_brings_the_settings_back(browser, address):
    page = listen(browser)
    page.goto(f"{address}/?compressor=vidcom2&retention_ratio=0.1&frames=16&seed=x&clip=square.mp4")
    notice(page, "Settings as in the link")
    assert page.get_by_label("range slider for Retention ratio").input_value() == "0.1"
    assert page.get_by_label("range slider for Frames").input_value() == "16"
    assert page.get_by_label("Seed").input_value() == "0"
    page.get_by_text("Advanced: VidCom2").wait_for()
    page.click("#gv-ask")
    page.wait_for_selector(".gv-cost >> text=VidCom2 10 %")
    page.close()


def test_the_words_of_strangers_stay_words(visit):
    text = "<img src=x onerror=alert(1)> ${1+1} **bold**"
    ask(visit, text)
    visit.wait_for_selector(".gv-cost")
    assert visit.locator(".gv-question").inner_text() == text
    assert visit.locator(".gv-answers img").count() == 0


def test_bad_input_gets_a_message_and_the_session_goes_on(visit, clips):
    ask(visit, "   ")
    notice(visit, "Type a question")
    visit.locator("#gv-clip").get_by_label("Clear").click()
    visit.wait_for_selector(".gv-viewer[data-state=empty]")
    ask(visit, "What?")
    notice(visit, "Choose a clip first")
    visit.locator("#gv-clip input[type=file]").set_input_files(str(clips / "broken.mp4"))
    notice(visit, "not a video that can be read")
    visit.get_by_role("button", name="Square").click()
    notice(visit, "Used 32")
    visit.get_by_label("Video LLM").click()
    visit.get_by_role("option", name="Missing").click()
    notice(visit, "Download it first")
    visit.get_by_label("Video LLM").click()
    visit.get_by_role("option", name="Built-in").click()
    notice(visit, "Used 32")
    ask(visit, "w" * 10_000)
    visit.wait_for_selector(".gv-cost")


def test_stop_ends_the_answer_and_frees_the_model(visit, library):
    library.words = 400
    library.closed.clear()
    try:
        ask(visit, "Tell me everything")
        visit.wait_for_function(
            "document.querySelector('.gv-answer')?.textContent.includes('word3')"
        )
        visit.locator("#gv-question textarea").press("Enter")  # a second one while it runs
        assert visit.is_disabled("#gv-ask") and visit.is_disabled("#gv-again")
        visit.click("#gv-stop")
        assert library.closed.wait(1.0)
        notice(visit, "Stopped")
        visit.wait_for_selector("#gv-stop[disabled]", state="attached")
        assert visit.locator(".gv-turn").count() == 1 and visit.is_enabled("#gv-ask")
    finally:
        library.words = 8
    ask(visit, "And again?")
    visit.wait_for_selector(".gv-turn:nth-child(2) .gv-cost")


def test_two_people_share_the_model_and_each_sees_his_own(visit, browser, address, library):
    other = opened(browser, address)
    library.words = 400
    try:
        ask(visit, "A long one")
        visit.wait_for_selector(".gv-running")
        ask(other, "Mine")
        notice(other, "1 person comes before you")
        library.words = 8
        visit.click("#gv-stop")
        other.wait_for_selector(".gv-cost")
        assert other.locator(".gv-question").inner_text() == "Mine"
        assert "Mine" not in visit.locator(".gv-answers").inner_text()
    finally:
        library.words = 8
        other.close()


def test_leaving_in_the_middle_frees_the_model(visit, library):
    library.words = 1000
    library.closed.clear()
    try:
        ask(visit, "Tell me everything")
        visit.wait_for_selector(".gv-running")
        visit.reload()
        assert library.closed.wait(5.0)
    finally:
        library.words = 8


def test_pointing_at_a_curve_moves_the_viewer(visit):
    tab(visit, "Curves")
    plot = visit.locator("#gv-budget .js-plotly-plot .nsewdrag").first
    plot.wait_for()
    visit.wait_for_selector("#gv-budget .gv-cursor", state="attached")
    box = plot.bounding_box()
    visit.mouse.move(box["x"] + box["width"] * 0.5, box["y"] + 40)
    visit.mouse.move(box["x"] + box["width"] * 0.97, box["y"] + 40, steps=3)
    visit.wait_for_timeout(500)  # Plotly tells of the pointer a moment after it has come to rest
    tab(visit, "Tokens")
    visit.wait_for_function(
        "document.querySelector('.gv-caption').textContent.includes('unit 16 of 16')"
    )


AXE = """async () => (await axe.run(document, { rules: { "color-contrast": { enabled: true } } }))
  .violations.flatMap((found) => found.nodes.map((node) => [found.id, node.target.join(" ")]))
  .filter(([, place]) => /gv-/.test(place))"""


def test_every_tab_is_local_accessible_and_fits_a_phone(visit):
    """No request elsewhere, no error, nothing for axe to say of our parts, no sideways scroll."""
    axe = pytest.importorskip("axe_playwright_python", reason="needs axe-playwright-python")
    tab(visit, "Compare")
    visit.click("#gv-compare-start")
    visit.wait_for_selector(".gv-table tr:nth-child(6).gv-done")
    visit.wait_for_selector("#gv-compare-start:not([disabled])")
    visit.add_script_tag(path=str(Path(axe.__file__).with_name("axe.min.js")))
    for dark in (False, True):
        visit.evaluate("dark => document.body.classList.toggle('dark', dark)", dark)
        for name in ("Compare", "Curves", "Export and API", "About", "Tokens"):
            tab(visit, name)
            if name == "Curves":
                visit.wait_for_selector("#gv-budget .legendtext")
            settle(visit)
            assert visit.evaluate(AXE) == [], (name, dark)
    visit.set_viewport_size({"width": 390, "height": 844})
    settle(visit)
    assert visit.evaluate("document.documentElement.scrollWidth") <= 390
    hosts = {urlsplit(url).hostname for url in visit.requested if url.startswith("http")}
    assert hosts == {"127.0.0.1"}
    assert visit.errors == []


def test_the_keyboard_reaches_everything_of_a_comparison(visit):
    tab(visit, "Compare")
    visit.focus("#gv-compare-start")
    visit.keyboard.press("Enter")
    visit.wait_for_selector(".gv-table tr:nth-child(6).gv-done")
    visit.wait_for_selector("#gv-compare-start:not([disabled])")
    visit.focus(".gv-table tr:nth-child(3) [data-side=a]")
    visit.keyboard.press("Space")
    visit.wait_for_selector(".gv-table tr:nth-child(3) [data-side=a][aria-pressed=true]")
    visit.keyboard.press("Tab")
    assert visit.evaluate("document.activeElement.dataset.side") == "b"


def test_the_running_server_gives_away_no_file_and_fetches_none(visit, address):
    def status(path: str, **headers: str) -> int:
        return visit.request.get(address + path, headers=headers).status

    assert status("/") == status("/healthz") == 200
    assert status("/", origin="http://evil.example") == 403
    assert status("/gradio_api/file=http://127.0.0.1:1/x") == 403
    for secret in ("/etc/passwd", "app.py", "gleanvid/__init__.py", "../app.py"):
        assert status(f"/gradio_api/file={secret}") in (403, 404)
    assert status("/docs") == 404
    assert status("/gradio_api/monitoring/summary") in (403, 404)


def test_opening_the_page_asks_nothing_of_the_model(browser, address, library):
    before = (library.reads, library.encodes)
    page = browser.new_page()
    page.goto(address)
    page.wait_for_selector("#gv-clip video", state="attached")
    page.wait_for_timeout(1000)  # long enough for a stray event to reach the server
    assert not page.locator(".gv-notice").first.inner_text().startswith(("Reading", "Used"))
    assert (library.reads, library.encodes) == before
    page.close()
