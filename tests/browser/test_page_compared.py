from __future__ import annotations

import csv
import io
import json
import re
from pathlib import Path

import pytest

from gleanvid.plots import FIGURES
from tests.browser.compared import FAILED, FILES, METHODS, pixels
from tests.browser.conftest import opened
from tests.browser.steps import answered, named, reply, settle, slider, tab, until

ROW = ".gv-table tbody tr"
KEPT = f"{ROW} td:nth-child(5)"
CURSOR = "document.querySelector('#gv-budget .gv-cursor').getBoundingClientRect().x"
OUTSIDE = """(plot) => {
  const { t, l, w, h } = plot._fullLayout._size;
  const { x, y } = plot.getBoundingClientRect();
  const lines = [...plot.querySelectorAll(".trace.scatter path.js-line")];
  const beyond = lines.map((line) => line.getBoundingClientRect()).map((box) => Math.max(
    x + l - box.left, y + t - box.top, box.right - x - l - w, box.bottom - y - t - h));
  return { lines: lines.length, most: Math.max(...beyond) };
}"""  # largest number of pixels by which a curve extends beyond the axes of its plot
SHOWS = "(text) => document.querySelector('.gv-clock small').textContent === text"


@pytest.fixture(scope="module")
def page(browser, address, library):
    """A page, shared by the tests, with a finished comparison whose answers differ in length."""
    page = opened(browser, address)
    tab(page, "Compare")
    library.words_of = {"gleanvid": 10, "vidcom2": 10, "vcast": 6, "uniform": 6}
    page.focus("#gv-compare-start")
    page.keyboard.press("Enter")
    # Wait until the comparison has replaced the rows that the table had at first.
    page.wait_for_selector(f"{ROW}.gv-done ~ .gv-waiting")
    page.at_first = page.locator(ROW).evaluate_all("rows => rows.map((row) => row.className)")
    page.wait_for_selector("#gv-compare-start:not([disabled])")
    library.words_of = {}
    yield page
    assert page.errors == []
    page.close()


def rows(page):
    texts = page.locator(f"{ROW} th").all_inner_texts()
    # a no-break space keeps "10 %" on one line
    return [text.replace("\xa0", " ").strip() for text in texts]


def test_comparison_rows_appear_one_by_one_and_refused_methods_are_listed_once_below(page):
    assert page.at_first[0] == "gv-done" and page.at_first[-1] == "gv-waiting"
    tab(page, "Compare")
    assert rows(page) == [method for method in METHODS if method != FAILED]
    (refusal,) = page.locator(".gv-refusals li").all_inner_texts()
    assert refusal.startswith("VisionZip ") and "saliency" in refusal


def test_all_columns_of_the_comparison_fit_next_to_open_settings(page):
    tab(page, "Compare")
    assert page.viewport_size == {"width": 1400, "height": 900}
    assert page.is_visible("#gv-settings")
    hidden = "(place) => place.scrollWidth - place.clientWidth"
    assert page.locator(".gv-scroll").evaluate(hidden) == 0


def test_compared_answers_mark_words_that_differ_from_the_answer_with_all_tokens(page):
    tab(page, "Compare")
    said = page.locator(f"{ROW} .gv-said")
    assert said.first.locator("mark, del").count() == 0
    more = [mark.inner_text() for mark in page.locator(f"{ROW} mark").all()]
    assert more and set(more) == {"word8", "word9"}
    assert said.last.locator("del").all_inner_texts() == ["word6 word7"]


def test_column_header_sorts_ascending_then_descending_then_restores_the_order(page):
    tab(page, "Compare")
    before = rows(page)
    button = page.get_by_role("button", name=re.compile("^Tokens"))
    kept = lambda: [int(text.replace(",", "")) for text in page.locator(KEPT).all_inner_texts()]  # noqa: E731
    for direction, order in (("ascending", sorted), ("descending", lambda v: sorted(v)[::-1])):
        button.click()
        assert page.get_attribute(".gv-table th[aria-sort]", "aria-sort") == direction
        assert kept() == order(kept()) and len(set(kept())) > 1
    button.click()
    assert page.locator(".gv-table th[aria-sort]").count() == 0 and rows(page) == before


def test_outdated_comparison_table_is_greyed_and_names_the_changed_setting(page):
    tab(page, "Compare")
    old = page.locator(".gv-old")
    assert old.inner_text() == "" and page.locator(".gv-compare[data-stale]").count() == 0
    box = page.get_by_label("Question", exact=True)
    box.fill("Where to?")
    page.wait_for_selector(".gv-compare[data-stale]")
    assert old.inner_text() == "This table was made with another question. Compare again."
    box.fill("What moves?")
    page.wait_for_selector(".gv-compare:not([data-stale])")
    tau = page.get_by_label("range slider for tau").first
    tau.focus()
    page.keyboard.press("ArrowRight")
    page.wait_for_selector(".gv-compare[data-stale]")
    assert "tau 4, now 4.5" in old.inner_text()
    page.keyboard.press("ArrowLeft")
    page.wait_for_selector(".gv-compare:not([data-stale])")


def test_every_button_of_the_comparison_is_reached_by_keyboard(page):
    """The fixture ``page`` starts the comparison from the keyboard, too."""
    tab(page, "Compare")
    page.focus(f"{ROW}:nth-child(3) [data-side=a]")
    page.keyboard.press("Space")
    page.wait_for_selector(f"{ROW}:nth-child(3) [data-side=a][aria-pressed=true]")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.dataset.side") == "b"


def test_buttons_of_a_comparison_row_show_its_run_as_a_or_b(page):
    tab(page, "Compare")
    for side, row in (("a", "VidCom2"), ("b", "V-CAST")):
        page.locator(ROW, has_text=row).locator(f"[data-side={side}]").click()
        page.wait_for_selector(
            f"{ROW} [data-side={side}][data-label='{row} 10 %'][aria-pressed=true]"
        )
        named(page, side, f"{row} 10 %")


def test_comparison_stopped_before_its_first_row_keeps_the_previous_table(page, library):
    tab(page, "Compare")
    before = rows(page)
    library.pause_s, slow = 0.5, library.pause_s
    page.click("#gv-compare-start")
    page.wait_for_selector(f"{ROW}.gv-running")
    page.click("#gv-compare-stop")
    page.wait_for_selector("#gv-compare-start:not([disabled])")
    library.pause_s = slow
    assert rows(page) == before


@pytest.mark.parametrize("kind", ["CSV", "JSON"])
def test_exported_comparison_has_every_method_with_its_answer(page, kind):
    tab(page, "Compare")
    with page.expect_download() as waiting:
        page.get_by_role("button", name=f"Save {kind}").click()
    text = Path(waiting.value.path()).read_text(encoding="utf-8")
    if kind == "CSV":
        saved = list(csv.DictReader(io.StringIO(text)))
    else:
        told = json.loads(text)
        saved = told["rows"]
        assert told["question"] == "What moves?"
    assert [row["method"] for row in saved] == METHODS
    assert saved[0]["answer"].startswith("word0") and saved[0]["Tokens (kept)"]


def test_plot_of_cost_against_quality_has_a_named_point_for_every_method(page):
    tab(page, "Compare")
    names = page.locator(".gv-picture .gv-named").all_text_contents()
    assert set(names) == {method.removesuffix(" 10 %") for method in METHODS if method != FAILED}
    # two markers per method: quality and cost
    assert page.locator(".gv-picture g").count() == 2 * len(names)


def test_every_curve_is_drawn_and_marks_the_viewer_s_unit(page):
    tab(page, "Tokens")
    page.focus(".gv-frame")
    page.keyboard.press("Home")
    tab(page, "Curves")
    page.wait_for_selector("#gv-effective_rank .js-plotly-plot")
    plots = page.locator(".gv-plot .js-plotly-plot")
    drawn = set(FIGURES) - {"effective_dimension"}
    assert plots.count() == len(drawn) and all(plot.is_visible() for plot in plots.all())
    page.wait_for_selector("#gv-budget .gv-cursor")
    first = page.evaluate(CURSOR)
    tab(page, "Tokens")
    page.focus(".gv-frame")
    page.keyboard.press("End")
    tab(page, "Curves")
    page.wait_for_function(f"{CURSOR} > {first} + 100")


@pytest.mark.parametrize("name", [name for name in FIGURES if FIGURES[name].x == "units"])
def test_hovering_a_curve_shows_its_value_and_moves_the_viewer(page, name):
    tab(page, "Curves")
    page.mouse.move(0, 0)
    plot = page.locator(f"#gv-{name} .js-plotly-plot")
    plot.scroll_into_view_if_needed()
    box = plot.bounding_box()
    plot.hover(position={"x": box["width"] / 2, "y": box["height"] / 2})
    page.wait_for_selector(f"#gv-{name} .hoverlayer text", state="attached")
    told = " ".join(page.locator(f"#gv-{name} .hoverlayer text").all_text_contents())
    method, unit, value = re.fullmatch(
        r"(All tokens|.+ %) ?unit (\d+) \([\d.]+ s\) ?(.+)", told
    ).groups()
    assert method in METHODS and any(character.isdigit() for character in value)
    tab(page, "Tokens")
    page.wait_for_function(SHOWS, arg=f"unit {unit} of 16")


def test_lines_of_curves_stay_within_the_axes(page):
    tab(page, "Curves")
    for plot in page.locator(".gv-linked .js-plotly-plot").all():
        outside = plot.evaluate(OUTSIDE)
        assert outside["lines"] > 0 and outside["most"] <= 1


def test_method_chosen_in_the_legend_stands_out_in_every_curve(page):
    tab(page, "Curves")
    assert page.locator(".gv-curves .legend").count() == 0
    button = page.locator(".gv-key button", has_text="VidCom2")
    button.click()
    page.mouse.move(0, 0)
    for curve in ("budget", "effective_rank", "residual_energy"):
        stays = page.locator(f"#gv-{curve} .trace.scatter:not(.gv-back)")
        names = stays.evaluate_all("all => all.map(({ __data__: [{ trace }] }) => trace.name)")
        assert {label for label in names if label in METHODS} == {"VidCom2 10 %"}
    button.click()
    page.mouse.move(0, 0)
    assert page.locator(".gv-curves .gv-back").count() == 0


@pytest.mark.parametrize("button", FILES)
def test_export_button_downloads_a_valid_file(page, button):
    name, is_right = FILES[button]
    tab(page, "Export and API")
    with page.expect_download() as waiting:
        page.get_by_role("button", name=button).click()
    assert waiting.value.suggested_filename == name
    assert is_right(Path(waiting.value.path()).read_bytes())


def test_button_of_the_last_of_31_comparison_rows_shows_its_run_in_the_viewer(page, library):
    """The viewer holds up to 28 runs, so the last one has to be fetched."""
    tab(page, "Compare")
    library.words = 1
    page.locator("#gv-methods").get_by_label("Random", exact=True).check()
    for share in ("5%", "15%", "25%", "50%", "75%"):
        page.get_by_label(share, exact=True).check()
    page.click("#gv-compare-start")
    page.wait_for_selector("#gv-compare-stop:not([disabled])")
    page.wait_for_selector("#gv-compare-start:not([disabled])", timeout=120_000)
    library.words = 8
    label = "Random 75 %"
    assert rows(page)[-1] == label and len(rows(page)) == 31
    page.get_by_label(f"Show {label} as A in the viewer").click()
    page.wait_for_selector(f"{ROW} [data-side=a][data-label='{label}'][aria-pressed=true]")
    named(page, "a", label)


def test_settings_show_b_s_method_after_comparing_other_methods(visit):
    assert chosen(visit) == "GleanVID"
    tab(visit, "Compare")
    for method in ("GleanVID", "VisionZip", "V-CAST"):
        visit.locator("#gv-methods").get_by_label(method, exact=True).uncheck()
    # B has not answered this question.
    visit.get_by_role("textbox", name="Question", exact=True).fill("What rests?")
    visit.click("#gv-compare-start")
    named(visit, "b", "VidCom2 10 %")
    until(visit, lambda: chosen(visit) == "VidCom2")


def chosen(page) -> str:
    return page.get_by_role("combobox", name="Compressor", exact=True).input_value()


def test_one_button_compares_b_s_method_at_every_ratio(page, library):
    tab(page, "Compare")
    library.words = 1
    before = rows(page)
    page.click("#gv-sweep")
    until(page, lambda: rows(page) != before)
    page.wait_for_selector(f"{ROW}:nth-child(7).gv-done")
    page.wait_for_selector("#gv-sweep:not([disabled])")
    library.words = 8
    shares = [f"{chosen(page)} {share} %" for share in (5, 10, 15, 25, 50, 75)]
    assert rows(page) == ["All tokens", *shares]


def test_compare_tab_on_a_phone_shows_row_buttons_and_the_effect_of_a_slider(page):
    tab(page, "Compare")
    page.set_viewport_size({"width": 390, "height": 844})
    ends = "(buttons) => buttons.map((button) => button.getBoundingClientRect().right)"
    assert max(page.locator(f"{ROW} [data-side]").evaluate_all(ends)) <= 390
    share = slider(page, "Retention")
    share.fill("0.3")
    line = page.locator(".gv-where", has_text="30 %")
    line.wait_for()
    share.scroll_into_view_if_needed()
    apart = share.bounding_box()["y"] - line.bounding_box()["y"]
    assert 0 < apart < 844
    line.get_by_role("button", name="Show their masks").click()
    page.wait_for_selector(".gv-frame >> visible=true")
    assert page.get_by_role("tab", selected=True).inner_text() == "Tokens"


def test_exported_image_of_both_frames_uses_settings_changed_on_another_tab(visit):
    def saved() -> bytes:
        with visit.expect_download() as waiting:
            visit.get_by_role("button", name="Current frame of A and B (PNG)").click()
        return Path(waiting.value.path()).read_bytes()

    tab(visit, "Export and API")
    before = pixels(saved())
    slider(visit, "Retention").fill("0.5")
    named(visit, "b", "GleanVID 50 %")
    settle(visit)
    after = pixels(saved())
    left, right = (slice(0, after.shape[1] // 2 - 8), slice(after.shape[1] // 2 + 8, None))
    # A, which keeps all tokens, is unchanged
    assert (before[30:, left] == after[30:, left]).all()
    assert (before[30:, right] != after[30:, right]).mean() > 0.05


WATCH_COLUMNS = """() => {
  window.titles = new Set();
  const read = () => document.querySelectorAll(".gv-table thead th")
    .forEach((head) => titles.add(head.innerText.split(/\\s/)[0]));
  new MutationObserver(read)
    .observe(document.querySelector("#gv-rows"), { childList: true, subtree: true });
}"""


def put_list(page, listed):
    """Upload a file of questions, and wait until the box shows them."""
    lines = "\n".join(map(json.dumps, listed)).encode()
    file = {"name": "questions.jsonl", "mimeType": "text/plain", "buffer": lines}
    page.locator("#gv-listing input[type=file]").set_input_files([file])
    box = page.locator("#gv-questions textarea")
    until(page, lambda: box.input_value().splitlines() == [one["text"] for one in listed])


def test_list_of_questions_reports_correct_answers_and_opens_the_run_of_each_question(
    visit, library
):
    tab(visit, "Compare")
    for method in ("VidCom2", "V-CAST", "VisionZip", "Uniform"):
        visit.locator("#gv-methods").get_by_label(method).uncheck()
    listed = [{"text": "What moves?", "answer": "word0"}, {"text": "Where to?", "answer": "left"}]
    put_list(visit, listed)
    library.words, library.words_of = 1, {"gleanvid": 2}
    visit.evaluate(WATCH_COLUMNS)
    visit.click("#gv-compare-start")
    visit.wait_for_selector("#gv-compare-stop:not([disabled])")
    visit.wait_for_selector("#gv-compare-start:not([disabled])")
    library.words, library.words_of = 8, {}
    # titles of all columns that the table has shown since the click on the start button
    titles = visit.evaluate("[...titles]")
    assert "Right" in titles and "Memory" not in titles  # empty columns are hidden
    right = visit.locator(f"{ROW} td:nth-child(4)").all_inner_texts()
    assert [text.partition(" (")[0] for text in right] == ["1 of 2", "0 of 2"]
    assert "2 questions" in visit.locator(".gv-scatter h2").inner_text()
    visit.locator(f"{ROW} summary").last.click()
    assert "right answer: word0" in visit.locator(ROW).last.inner_text()
    visit.locator(ROW).last.get_by_role("button", name="Where to?").click()
    box = visit.get_by_role("textbox", name="Question", exact=True)
    until(visit, lambda: box.input_value() == "Where to?")


def test_list_of_questions_counts_its_clips_and_each_question_opens_its_clip(visit, library):
    tab(visit, "Compare")
    for method in ("VidCom2", "V-CAST", "VisionZip", "GleanVID"):
        visit.locator("#gv-methods").get_by_label(method, exact=True).uncheck()
    visit.get_by_role("button", name="Suggested questions of all clips").click()
    box = visit.locator("#gv-questions textarea")
    until(visit, lambda: len(box.input_value().splitlines()) == 10)
    put_list(
        visit,
        [
            {"text": box.input_value().splitlines()[-1], "answer": "?", "clip": "glimpse_1.mp4"},
            {"text": "What moves?", "answer": "word0", "clip": "square.mp4"},
        ],
    )
    library.words = 1
    visit.click("#gv-compare-start")
    visit.wait_for_selector("#gv-compare-stop:not([disabled])")
    visit.wait_for_selector("#gv-compare-start:not([disabled])")
    library.words = 8
    assert visit.locator(f"{ROW} td:nth-child(4)").all_inner_texts() == 2 * ["1 of 2 (0–100 %)"]
    assert visit.inner_text(".gv-of").split("\n") == ["2 questions", "2 clips"]
    hidden = "place => place.scrollWidth - place.clientWidth"
    assert visit.locator(".gv-scroll").evaluate(hidden) == 0
    visit.set_viewport_size({"width": 390, "height": 844})
    right = "cell => cell.getBoundingClientRect().right"
    assert visit.locator(f"{ROW} td:nth-child(4)").last.evaluate(right) <= 390
    table, line = (visit.locator(part).bounding_box() for part in (".gv-scroll", ".gv-where"))
    # on a phone, the line "In the viewer: ..." is below the table
    assert line["y"] >= table["y"] + table["height"]
    visit.set_viewport_size({"width": 1400, "height": 900})
    visit.locator(f"{ROW} summary").last.click()
    lines = visit.locator(ROW).last.get_by_role("button", name="glimpse_1.mp4")
    lines.click()
    named(visit, "b", "Uniform 10 %")
    visit.wait_for_selector("#gv-example-glimpse_1\\.mp4[aria-current]")
    assert visit.get_by_role("tab", selected=True).inner_text() == "Tokens"
    answered(visit)
    assert reply(visit, "b").inner_text() == reply(visit, "a").inner_text() == "word0"
    tab(visit, "Compare")
    # the comparison covers both clips, so it is not outdated
    assert not visit.locator(".gv-compare[data-stale]").count()


def test_run_at_the_lowest_ratio_that_keeps_the_answer_opens_in_the_viewer(page, library):
    tab(page, "Compare")
    library.words_of = {"uniform": 4}  # the answer with all tokens has 8 words
    page.click("#gv-find")
    page.wait_for_selector("#gv-find:not([disabled])")
    kept, lost = (page.locator(".gv-least li", has_text=name) for name in ("GleanVID", "Uniform"))
    assert "keeps it down to" in kept.inner_text() and "loses it already" in lost.inner_text()
    lost.locator("button").click()
    page.wait_for_function(
        "document.querySelector('[data-pick=b] .gv-title').textContent.startsWith('Uniform')"
    )
    library.words_of = {}
