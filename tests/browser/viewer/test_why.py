from components.viewer.payload import pack
from gleanvid.compressors import GleanVID
from tests.browser.steps import settle
from tests.browser.viewer.alone import open_alone, value_of
from tests.browser.viewer.case import LATE, OTHER, PRUNED, caption, choose, look_at
from tests.browser.viewer.test_viewer import PIXELS
from tests.components.made_up import made_up_run


def test_budget_of_the_current_unit_is_split_into_even_part_and_novelty_part(page, case):
    record = case.runs[PRUNED].compression
    alpha, gini = (float(record.trace[name]) for name in ("alpha", "gini"))
    choose(page, a=PRUNED)
    for unit in (0, 3):
        look_at(page, unit)
        kept = int(record.budgets[unit])
        even = min(kept, alpha * record.num_kept / 4)
        text = page.locator(".gv-parts").inner_text().strip()
        assert text.startswith(f"{kept} tokens = {even:.1f} (even share × alpha) + ")
        first = "" if unit else ", as all of the first unit is new"
        assert f"{kept - even:.1f} by novelty{first}. Alpha {alpha:.2f}, because" in text
        assert text.endswith(f"(novelty Gini {gini:.2f}).")
    choose(page, a=OTHER)
    assert page.locator(".gv-parts").is_hidden()


FILM = """() => {
  const canvas = document.querySelector(".gv-film canvas");
  const { data, width } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
  const sums = [0, 0];
  for (let at = 0; at < data.length; at += 4)
    sums[Number(Math.floor(at / 4 / width) >= canvas.height / 2)] += data[at] + data[at + 1];
  return [...sums, canvas.clientWidth];
}"""


def test_filmstrip_shows_the_masks_of_every_unit_and_selects_a_clicked_unit(page):
    choose(page, a=LATE, b=PRUNED)
    page.select_option("[data-pick=layer] select", "0")
    look_at(page, 0)
    a, b, width = page.evaluate(FILM)
    assert b < 0.85 * a  # A drops tokens only from layer 2 on; B's dropped tokens are dark
    film = page.locator(".gv-film")
    film.click(position={"x": width * 2.5 / 4, "y": 10})
    settle(page)
    assert "unit 3 of 4" in page.locator(".gv-clock").inner_text()
    assert page.errors == []


def test_effect_of_a_slider_stays_marked_and_counted_until_the_next_change(shared, case):
    moved = GleanVID(tau=12, alpha_min=0.6).compress(case.tokens)
    run = made_up_run(case.runs[0].video, moved, "gleanvid", tau=12)
    before = case.runs[PRUNED].compression.mask
    came, went = int((moved.mask & ~before).sum()), int((before & ~moved.mask).sum())
    assert came and came == went
    later = pack([run], 0, None, case.tokens)
    page = open_alone(shared, case.packed, later)
    bars = "[data-strip=budget] canvas"
    page.evaluate("show", value_of(later, "b") | {"runs": ["moved"]})
    count = page.locator("[data-side=a] .gv-changed")
    count.filter(has_text="came").wait_for()
    assert count.inner_text() == f"{came} came, {went} went"
    count.click()  # leads to the unit in which most changed
    changed = (moved.mask != before).view(4, -1).sum(1)
    assert f"unit {int(changed.argmax()) + 1} of 4" in caption(page)
    page.wait_for_timeout(300)
    marked, ghosts = page.evaluate(PIXELS), page.evaluate(PIXELS.replace(".gv-frame", bars))
    # Another compressor is chosen, so no change is marked.
    page.evaluate("show", value_of(case.packed) | {"a": OTHER})
    page.locator("[data-pick=a] option:checked >> text=Random").wait_for(state="attached")
    assert count.inner_text() == ""
    page.evaluate("show", value_of(later, "b") | {"runs": ["moved"]})
    page.locator("[data-pick=a] option:checked >> text=tau").wait_for(state="attached")
    look_at(page, int(changed.argmax()))
    assert page.evaluate(PIXELS) != marked
    assert page.evaluate(PIXELS.replace(".gv-frame", bars)) != ghosts
