from urllib.parse import urlsplit

import pytest

from tests.browser.steps import answered, ask, caption, name, notice, reply, slider, tab, upload


def test_uploaded_clip_can_be_asked_about_compared_and_exported(visit, clips):
    chosen = visit.locator(".gv-examples [aria-current]")
    assert chosen.all_inner_texts() == ["Square"]
    upload(visit, str(clips / "square.mp4"))
    notice(visit, "Used 32")
    assert chosen.count() == 1 and chosen.get_attribute("title") == "square.mp4"
    assert visit.get_by_role("button", name="Upload a clip").is_visible()
    ask(visit, "What is this?")
    answered(visit)
    for side in "ab":
        pane = visit.locator(f".gv-pane[data-side={side}]")
        assert reply(visit, side).inner_text().startswith("word0 word1")
        assert "to first token" in pane.locator(".gv-spent").inner_text()
    assert (name(visit, "a"), name(visit, "b")) == ("All tokens", "GleanVID 10 %")
    assert "tokens kept" in caption(visit)
    assert visit.is_enabled("#gv-ask") and visit.is_hidden("#gv-stop")
    tab(visit, "Export and API")
    with visit.expect_download() as waiting:
        visit.get_by_role("button", name="Metrics per temporal unit (CSV)").click()
    assert waiting.value.suggested_filename == "square-gleanvid-10pct-units.csv"
    lines = waiting.value.path().read_text(encoding="utf-8").splitlines()
    assert len(lines) == 1 + 2 * 16
    assert sum(line.startswith("GleanVID 10 %") for line in lines) == 16
    hosts = {urlsplit(url).hostname for url in visit.requested if url.startswith("http")}
    assert hosts == {"127.0.0.1"} and visit.errors == []


@pytest.mark.slow  # components/server/test_saved_run.py opens saved runs
def test_run_saved_from_the_page_can_be_opened_again(visit, tmp_path):
    ask(visit, "Which one?")
    answered(visit)
    words = reply(visit, "b").inner_text()
    tab(visit, "Export and API")
    with visit.expect_download() as waiting:
        visit.get_by_role("button", name="Complete run B (ZIP)").click()
        assert visit.locator(".gv-export:not([aria-disabled=true])").count() == 0
    waiting.value.save_as(tmp_path / "run.zip")
    visit.wait_for_selector(".gv-export:not([aria-disabled])")
    visit.goto(visit.url.split("?")[0])
    tab(visit, "Export and API")
    with visit.expect_file_chooser() as choosing:
        visit.get_by_role("button", name="Open a saved run (ZIP)").click()
    choosing.value.set_files(str(tmp_path / "run.zip"))
    visit.locator(".gv-notice", has_text="The saved run is open").first.wait_for()
    visit.wait_for_selector(".gv-viewer[data-shown=one]")
    assert name(visit, "a") == "GleanVID 10 %"
    assert reply(visit, "a").inner_text() == words


def test_moving_the_ratio_slider_updates_masks_and_address_without_encoding(page, library):
    encodes, before = library.encodes, caption(page)
    slider(page, "Retention").focus()
    page.keyboard.press("PageUp")
    page.wait_for_function(
        "old => document.querySelector('.gv-caption').textContent !== old", arg=before
    )
    answered(page)  # both sides are answered under the new settings
    page.wait_for_function("location.search.includes('retention_ratio=')")
    assert library.encodes == encodes
