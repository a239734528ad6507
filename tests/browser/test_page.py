"""The page in a real browser: what a person does with it."""

from __future__ import annotations

from tests.browser.conftest import listen
from tests.browser.steps import ask, caption, notice, tab


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
    # The masks of the link's settings may be there, and say so, before anyone reads of the link.
    page.wait_for_function("/link|^Used/.test(document.querySelector('.gv-notice')?.textContent)")
    assert page.get_by_label("range slider for Retention ratio").input_value() == "0.1"
    assert page.get_by_label("range slider for Frames").input_value() == "16"
    assert page.get_by_label("Seed").input_value() == "0"
    page.get_by_role("button", name="More settings").wait_for()
    page.click("#gv-ask")
    page.wait_for_selector(".gv-cost >> text=VidCom2 10 %")
    page.close()


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
