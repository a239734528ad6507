from __future__ import annotations

import csv
import io

import pytest

from components.server.theme import STYLES
from components.viewer import modules
from tests.browser.alone import THEME


@pytest.fixture(scope="module")
def bare(window, address):
    """A page of the server without Gradio, with the app's styles; it can import its scripts."""
    page = window.new_page()
    page.goto(f"{address}/healthz")
    page.add_style_tag(content=THEME + "".join(path.read_text("utf-8") for path in STYLES))
    yield page
    page.close()


CSV = """async (module) => {
  const { csv } = await import(module);
  const answers = ["=1+1", "+cmd", "-2", "@x", 'a "b", c', "two\\nlines", "plain"];
  const rows = answers.map((answer) => ({ label: "x", answer, right: null, error: "", cells: {} }));
  const asked = { question: "=Q", clip: "c.mp4", settings: { frames: 32 } };
  return [answers, csv({ columns: [], rows, asked })];
}"""


def test_answers_neither_become_formulas_nor_break_lines_of_the_csv(bare):
    answers, text = bare.evaluate(CSV, f"/{modules.address('results/saving.js')}")
    rows = list(csv.DictReader(io.StringIO(text, newline="")))
    read = [row["answer"] for row in rows]
    assert read == [f"'{answer}" if answer[0] in "=+-@" else answer for answer in answers]
    asked = {name: rows[0][name] for name in ("question", "clip", "frames")}
    assert asked == {"question": "'=Q", "clip": "c.mp4", "frames": "32"}


DOTS = """async ([module, asked, ratios]) => {
  const { dots } = await import(module);
  const rows = Array.from({ length: 12 }, (_, n) => ratios.map((ratio) => ({
    label: `Method ${n} ${ratio}`, method: `Method ${n}`, state: "done", ratio,
    parts: [["prefill", 0.1 * ratio]], quality: { value: 1, right: 1, of: 1, low: 0.2, high: 1 },
    cells: { Mattered: ["", 40], Compress: ["", 5], Saved: ["", 100 * (1 - ratio)] },
  }))).flat();
  const axes = { Cost: "flops", Quality: "mattered" };
  const worthless = rows.map((row) => ({ ...row, quality: null }));
  const found = ["flops", "time"].map((cost) => {
    const [title, , , figure] = dots(rows, 900, asked, { ...axes, Cost: cost }, () => {});
    document.body.append(figure);
    const marks = [...figure.querySelectorAll("g")].map((mark) => mark.getBoundingClientRect());
    const hit = (a, b) => Math.abs(a.x - b.x) < 6 && Math.abs(a.y - b.y) < 6;
    const seen = { title: title.textContent, marks: marks.length,
      names: figure.querySelectorAll(".gv-named").length,
      over: marks.flatMap((a, n) => marks.slice(n + 1).filter((b) => hit(a, b))).length };
    figure.remove();
    return seen;
  });
  const alike = rows.map((row) => ({ ...row, quality: { value: 0.5 } }));
  const [, , heads, figure] = dots(alike, 900, asked, axes, () => {});
  const menu = heads.querySelector("select[aria-label=Quality]").value;
  const first = figure.ariaLabel.split("; ")[0];
  return [found, dots(worthless, 900, asked, axes, () => {}).length, [menu, first]];
}"""


@pytest.mark.parametrize("count", [1, 4])
def test_plot_of_cost_against_quality_labels_every_method_without_overlap(bare, count):
    module = f"/{modules.address('results/dots.js')}"
    found, worthless, alike = bare.evaluate(DOTS, [module, {"count": count}, [0.05, 0.1, 0.25]])
    named = "one question" if count == 1 else "4 questions"
    title = f"Cost against quality · {named}"
    assert found == 2 * [{"title": title, "marks": 72, "names": 12, "over": 0}]
    assert worthless == 0  # no plot if no row has a quality value
    # Without right answers, the plot shows the fraction of relevance on the kept tokens.
    assert alike == ["mattered", "Method 0 0.05: 40 % of what mattered"]
