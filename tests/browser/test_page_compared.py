import csv
import io
import json
import re
from pathlib import Path

import pytest

from gleanvid.compressors import COMPRESSORS
from tests.browser.conftest import opened
from tests.browser.steps import named, tab, until

METHODS = ["All tokens", "GleanVID 10 %", "VidCom2 10 %", "V-CAST 10 %", "VisionZip 10 %",
           "DivPrune 10 %", "Uniform 10 %"]  # fmt: skip
FAILED = "VisionZip 10 %"  # VisionZip needs the signal saliency, which the fake backend lacks
ROW = ".gv-table tbody tr"
KEPT = f"{ROW} td:nth-child(5)"

# whether the right edges of the cells of each row are those of the headings
CELLS = """() => {
  const table = document.querySelector(".gv-known table");
  const [heads, ...rows] = [...table.rows].map((row) => [...row.cells]
    .map((cell) => cell.getBoundingClientRect().right));
  return rows.map((row) => row.map((right, column) => right === heads[column]));
}"""


@pytest.fixture(scope="module")
def page(window, address, library):
    """A page, shared by the tests, with a finished comparison whose answers differ in length."""
    page = opened(window, address)
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


def test_buttons_of_a_comparison_row_show_its_run_as_a_or_b(page):
    tab(page, "Compare")
    for side, label in (("a", METHODS[2]), ("b", METHODS[3])):
        page.get_by_label(f"Show {label} as {side.upper()} in the viewer").click()
        pressed = f"{ROW} [data-side={side}][data-label='{label}'][aria-pressed=true]"
        page.wait_for_selector(pressed)
        named(page, side, label)


def test_exported_comparison_has_every_method_with_its_answer(page):
    def saved(kind):
        with page.expect_download() as waiting:
            page.get_by_role("button", name=f"Save {kind}").click()
        return Path(waiting.value.path()).read_text(encoding="utf-8")

    tab(page, "Compare")
    told = json.loads(saved("JSON"))
    assert told["question"] == "What moves?"
    for table in (list(csv.DictReader(io.StringIO(saved("CSV")))), told["rows"]):
        assert [row["method"] for row in table] == METHODS
        assert table[0]["answer"].startswith("word0") and table[0]["Tokens (kept)"]


def test_compare_opens_with_the_evidence_and_six_compressors_and_has_no_plot_of_one_question(page):
    tab(page, "Compare")
    assert page.get_by_role("heading", name="What 2,000 questions say").is_visible()
    assert page.evaluate(CELLS) == [[True] * 9] * 8, "a value is not below its heading"
    boxes = page.locator("#gv-methods label:visible")
    assert boxes.count() == 6 and page.locator(".gv-picture").count() == 0
    page.get_by_role("button", name="More compressors").click()
    assert boxes.count() == len(COMPRESSORS) - 1


def put_list(visit, listed):
    """Upload a file of questions, and wait until the page says how many it has."""
    file = {"name": "list.json", "mimeType": "text/plain", "buffer": json.dumps(listed).encode()}
    visit.locator("#gv-listing input[type=file]").set_input_files([file])
    visit.get_by_text(f"Compare asks {len(listed)} questions").wait_for()


@pytest.mark.slow  # components/compare/test_comparing.py shows it without a browser
def test_list_of_questions_reports_correct_answers_and_opens_the_run_of_each_question(
    visit, library
):
    tab(visit, "Compare")
    for method in ("VidCom2", "V-CAST", "VisionZip", "DivPrune", "Uniform"):
        visit.locator("#gv-methods").get_by_label(method).uncheck()
    clip = visit.locator(".gv-examples [aria-current]").get_attribute("id")
    row = {"clip": clip.removeprefix("gv-example-"), "options": ["word0", "left"]}
    listed = [
        row | {"question": "What moves?", "answer": "word0"},
        row | {"question": "Where to?", "answer": "left"},
    ]
    put_list(visit, listed)
    library.words, library.words_of = 1, {"gleanvid": 2}
    visit.click("#gv-compare-start")
    visit.wait_for_selector("#gv-compare-stop:not([disabled])")
    visit.wait_for_selector("#gv-compare-start:not([disabled])")
    library.words, library.words_of = 8, {}
    right = visit.locator(f"{ROW} td:nth-child(4)").all_inner_texts()
    assert [text.partition(" (")[0] for text in right] == ["1 of 2", "0 of 2"]
    assert "2 questions" in visit.locator(".gv-scatter h2").inner_text()
    # two markers per method: quality and cost
    assert visit.locator(".gv-picture g").count() == 2 * visit.locator(".gv-named").count() == 4
    visit.locator(f"{ROW} summary").last.click()
    assert "right answer: word0" in visit.locator(ROW).last.inner_text()
    visit.locator(ROW).last.get_by_role("button", name="Where to?").click()
    box = visit.get_by_role("textbox", name="Question", exact=True)
    until(visit, lambda: box.input_value() == "Where to?")


def test_rows_of_an_earlier_table_stay_empty_until_their_button_runs_them(visit):
    tab(visit, "Compare")
    for method in ("VidCom2", "V-CAST", "VisionZip", "DivPrune"):
        visit.locator("#gv-methods").get_by_label(method).uncheck()
    ran = f"{ROW}.gv-done:has-text('Uniform')"
    visit.click("#gv-compare-start")
    visit.wait_for_selector(".gv-tools-row button >> nth=0 >> visible=true")
    assert visit.locator(ran).count() == 1
    visit.locator("#gv-methods").get_by_label("Uniform").uncheck()
    visit.click("#gv-compare-start")
    visit.locator(".gv-missing:has-text('Uniform')").get_by_role("button").click()
    visit.wait_for_selector(ran)
    assert visit.locator(".gv-missing").count() == 0


@pytest.mark.slow  # components/compare/test_least.py shows it without a browser
def test_run_at_the_lowest_ratio_that_keeps_the_answer_opens_in_the_viewer(visit, library):
    tab(visit, "Compare")
    library.words_of = {"uniform": 4}  # the answer with all tokens has 8 words
    visit.click("#gv-find")
    visit.wait_for_selector("#gv-find:not([disabled])")
    kept, lost = (visit.locator(".gv-least li", has_text=name) for name in ("GleanVID", "Uniform"))
    assert "keeps it down to" in kept.inner_text() and "loses it already" in lost.inner_text()
    lost.locator("button").click()
    visit.wait_for_function(
        "document.querySelector('[data-pick=b] .gv-title').textContent.startsWith('Uniform')"
    )
    library.words_of = {}
