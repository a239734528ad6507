"""The page in a real browser: what a person does, and what must not happen meanwhile."""

from __future__ import annotations

from urllib.parse import urlsplit

from tests.browser.conftest import opened

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
        "text => document.querySelector('.gv-notice').textContent.includes(text)", arg=text
    )


def ask(page, question: str) -> None:
    page.get_by_label("Question").fill(question)
    page.click("#gv-ask")


def test_a_question_is_answered_with_its_cost_and_tokens(visit):
    ask(visit, "What moves?")
    visit.wait_for_selector(".gv-cost")
    assert visit.locator(".gv-answer").inner_text().startswith("word0 word1")
    cost = visit.locator(".gv-cost").inner_text()
    for part in ("visual tokens", "to first token", "tokens/s", "compress", "peak", "FLOPs"):
        assert part in cost
    assert visit.is_enabled("#gv-ask") and visit.is_disabled("#gv-stop")
    assert visit.errors == []


def test_keys_step_through_frames_without_the_server(viewing):
    viewing.focus(".gv-scrub")
    viewing.keyboard.press("Home")
    settle(viewing)
    assert caption(viewing).startswith("Frame 1 of 32")
    before = len(viewing.requested)
    for _ in range(5):
        viewing.keyboard.press("ArrowRight")
    settle(viewing)
    assert caption(viewing).startswith("Frame 6 of 32")
    viewing.keyboard.press("End")
    settle(viewing)
    assert caption(viewing).startswith("Frame 32 of 32")
    calls = [url for url in viewing.requested[before:] if "heartbeat" not in url]
    assert calls == []


def test_views_change_the_picture_without_the_server(viewing):
    before = len(viewing.requested)
    light = {}
    for name in ("Original", "Kept", "Scores", "Outline"):
        viewing.get_by_label(name, exact=True).check()
        settle(viewing)
        light[name] = viewing.evaluate(PIXELS)
    assert len({round(value, 2) for value in light.values()}) == 4
    assert light["Kept"] < light["Original"]
    viewing.get_by_label("Kept", exact=True).check()
    viewing.locator(".gv-strength input").fill("10")
    settle(viewing)
    assert light["Kept"] < viewing.evaluate(PIXELS) < light["Original"]
    assert [url for url in viewing.requested[before:] if "heartbeat" not in url] == []


def test_pointing_at_a_token_tells_its_fate_and_scores(viewing):
    viewing.hover(".gv-frame", position={"x": 200, "y": 120})
    card = viewing.locator(".gv-card")
    card.wait_for(state="visible")
    text = card.inner_text()
    assert ("Kept" in text) != ("Dropped" in text)
    for part in ("row", "column", "joint score", "LRS", "SCS", "rank"):
        assert part in text


def test_a_strip_moves_the_viewer(viewing):
    strip = viewing.locator("[data-strip=budget] canvas")
    box = strip.bounding_box()
    strip.click(position={"x": box["width"] * 0.99, "y": 20})
    settle(viewing)
    assert "unit 16 of 16" in caption(viewing)


def test_releasing_the_ratio_changes_the_masks_and_encodes_nothing(visit, library):
    encodes, before = library.encodes, caption(visit)
    slider = visit.get_by_label("range slider for Retention ratio")
    slider.focus()
    visit.keyboard.press("PageUp")
    visit.wait_for_function(
        "old => document.querySelector('.gv-caption').textContent !== old", arg=before
    )
    assert library.encodes == encodes
    assert visit.errors == []


def test_the_keys_and_words_of_strangers_stay_words(visit):
    ask(visit, "<img src=x onerror=alert(1)> ${1+1} **bold**")
    visit.wait_for_selector(".gv-cost")
    assert visit.locator(".gv-question").inner_text() == (
        "<img src=x onerror=alert(1)> ${1+1} **bold**"
    )
    assert visit.locator(".gv-answers img").count() == 0


def test_bad_input_gets_a_message_and_the_session_goes_on(visit, clips):
    ask(visit, "   ")
    notice(visit, "Type a question")
    visit.locator("#gv-clip").get_by_label("Clear").click()
    visit.locator("#gv-clip input[type=file]").set_input_files(str(clips / "broken.mp4"))
    notice(visit, "not a video that can be read")
    assert visit.get_attribute(".gv-viewer", "data-state") == "empty"
    visit.get_by_role("button", name="Square").click()
    notice(visit, "Used 32")
    ask(visit, "And now?")
    visit.wait_for_selector(".gv-cost")


def test_a_missing_model_is_explained(visit):
    visit.get_by_label("Video LLM").click()
    visit.get_by_role("option", name="Missing").click()
    notice(visit, "Download it first")


def test_stop_ends_the_answer_and_frees_the_model(visit, library):
    library.words, library.pause_s = 200, 0.05
    library.closed.clear()
    try:
        ask(visit, "Tell me everything")
        visit.wait_for_function(
            "document.querySelector('.gv-answer')?.textContent.includes('word3')"
        )
        visit.click("#gv-stop")
        notice(visit, "Stopped")
        assert library.closed.wait(1.0)
        assert visit.is_enabled("#gv-ask") and visit.is_disabled("#gv-stop")
    finally:
        library.words = 8
    ask(visit, "And again?")
    visit.wait_for_selector(".gv-cost")


def test_nothing_is_fetched_from_elsewhere_and_phones_need_no_sideways_scroll(visit):
    visit.get_by_role("tab", name="Curves").click()
    for plot in ("budget", "novelty"):
        visit.wait_for_selector(f"#gv-{plot} .legendtext")
    visit.set_viewport_size({"width": 390, "height": 844})
    settle(visit)
    assert visit.evaluate("document.documentElement.scrollWidth") <= 390
    hosts = {urlsplit(url).hostname for url in visit.requested if url.startswith("http")}
    assert hosts == {"127.0.0.1"}
    assert visit.errors == []


def test_the_running_server_gives_away_no_file_and_fetches_none(visit, address):
    def status(path: str, **headers: str) -> int:
        return visit.request.get(address + path, headers=headers).status

    assert status("/") == 200
    assert status("/", origin="http://evil.example") == 403
    assert status("/gradio_api/file=http://127.0.0.1:1/x") == 403
    for secret in ("/etc/passwd", "app.py", "gleanvid/__init__.py", "../app.py"):
        assert status(f"/gradio_api/file={secret}") in (403, 404)
    assert status("/docs") == 404
    assert status("/gradio_api/monitoring/summary") in (403, 404)


def test_two_people_share_the_model_one_after_the_other(visit, browser, address, library):
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


def test_opening_the_page_asks_nothing_of_the_model(browser, address, library):
    before = (library.reads, library.encodes)
    page = browser.new_page()
    page.goto(address)
    page.wait_for_selector("#gv-clip video", state="attached")
    page.wait_for_timeout(1000)  # long enough for a stray event to reach the server
    assert not page.locator(".gv-notice").inner_text().startswith(("Reading", "Used"))
    assert (library.reads, library.encodes) == before
    page.close()
