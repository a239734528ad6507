from components.tokens.answers import answer
from tests.browser.steps import settle
from tests.browser.viewer.case import CELLS, OTHER, PRUNED, caption, choose, look_at

VIEW = {"role": "radio", "name": "What mattered"}


def open_view(page) -> None:
    page.get_by_role(**VIEW).check(force=True)
    settle(page)


def test_relevance_view_states_the_fraction_of_relevance_kept_by_each_side(page, case):
    choose(page, a=PRUNED, b=OTHER)
    frame = page.locator("[data-side=b] .gv-frame").bounding_box()
    open_view(page)
    assert page.locator("[data-side=b] .gv-frame").bounding_box() == frame
    for key, method in (("a", PRUNED), ("b", OTHER)):
        kept = case.relevance.kept(case.runs[method].compression)
        words = page.locator(f"[data-side={key}] .gv-evidence").inner_text()
        assert words == f"Kept {100 * kept:.0f} % of what mattered"
    look_at(page, 1)
    order = case.relevance.tokens.argsort(descending=True)
    held = case.relevance.tokens[order].cumsum(0)
    mattered = order[: int((held < 0.8).sum()) + 1]
    here = mattered[mattered // CELLS == 1]
    gone = int((~case.runs[OTHER].compression.mask[here]).sum())
    assert gone and f"{gone} of {len(here)} that mattered dropped" in caption(page)
    assert (
        f"{100 * float(case.relevance.units[1]):.0f} %"
        in page.locator("[data-strip=relevance] output").inner_text()
    )
    assert page.get_by_text("use of its input, not of truth.").first.is_visible()


def test_selecting_a_word_of_the_answer_shows_the_relevance_map_of_that_word(page):
    choose(page, a=PRUNED, b=OTHER)
    page.evaluate("answers => change('answers', answers)", [answer("A red square.", "0")])
    open_view(page)
    word = page.get_by_role("button", name="red", exact=True)
    before, note = pixels(page), page.locator("[data-strip=relevance] .gv-note")
    word.focus()
    settle(page)
    assert pixels(page) != before and "for “red”" in note.inner_text()
    word.press("Enter")
    page.mouse.move(0, 0)
    word.evaluate("word => word.blur()")
    settle(page)
    assert pixels(page) != before and word.get_attribute("aria-pressed") == "true"
    word.press("Enter")
    word.evaluate("word => word.blur()")
    settle(page)
    assert pixels(page) == before and "for the answer" in note.inner_text()


def pixels(page) -> int:
    return page.evaluate(
        """() => {
          const canvas = document.querySelector(".gv-frame");
          return canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data
            .reduce((sum, level, place) => sum + level * (place % 97), 0);
        }"""
    )
