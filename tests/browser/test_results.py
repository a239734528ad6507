"""Scripts of the results by themselves: what they make of any comparison."""

from __future__ import annotations

import csv
import io

import pytest

from components.server.theme import STYLES
from components.viewer import modules
from tests.browser.alone import THEME


@pytest.fixture(scope="module")
def bare(window, address):
    """A page of the server that is not the app's, with its styles: scripts are fetched there."""
    page = window.new_page()
    page.goto(f"{address}/healthz")
    page.add_style_tag(content=THEME + "".join(path.read_text("utf-8") for path in STYLES))
    yield page
    page.close()


CSV = """async (module) => {
  const { csv } = await import(module);
  const answers = ["=1+1", "+cmd", "-2", "@x", 'a "b", c', "two\\nlines", "plain"];
  const rows = answers.map((answer) => ({ label: "x", answer, right: null, error: "", cells: [] }));
  const asked = { question: "=Q", clip: "c.mp4", settings: { frames: 32 } };
  return [answers, csv({ columns: [], rows, asked }, { tally: () => new Map() })];
}"""


def test_no_answer_becomes_a_formula_or_breaks_a_line_of_the_csv(bare):
    answers, text = bare.evaluate(CSV, f"/{modules.address('results/saving.js')}")
    rows = list(csv.DictReader(io.StringIO(text, newline="")))
    read = [row["answer"] for row in rows]
    assert read == [f"'{answer}" if answer[0] in "=+-@" else answer for answer in answers]
    asked = {name: rows[0][name] for name in ("question", "clip", "frames")}
    assert asked == {"question": "'=Q", "clip": "c.mp4", "frames": "32"}


NAMES_APART = """async ([module, count, width]) => {
  const { scatter } = await import(module);
  const seen = [];
  for (let turn = 0; turn < 8; turn++) {
    const rows = Array.from({ length: count }, (_, n) => ({
      label: `Method ${n}`, method: `Method ${n % 17}`, state: "done", right: null, answer: "",
      colour: "#000", dash: "solid", symbol: "circle",
      cells: [0, 0, 0, 0, 100 * Math.random() ** 0.3, -(Math.random() ** 6)].map((x) => ["", x]),
    }));
    const [, picture] = scatter(rows, width);
    document.body.append(picture);
    const frame = picture.getBoundingClientRect();
    const names = [...picture.querySelectorAll(".gv-named")];
    const boxes = names.map((name) => name.getBoundingClientRect());
    const over = (a, b) => a.left < b.right && b.left < a.right
      && a.top + 2 < b.bottom && b.top + 2 < a.bottom;
    seen.push({
      names: boxes.length,
      over: boxes.flatMap((a, n) => boxes.slice(n + 1).filter((b) => over(a, b))).length,
      outside: boxes.filter((a) => a.right > frame.right + 1 || a.bottom > frame.bottom).length,
    });
    picture.remove();
  }
  return seen;
}"""


@pytest.mark.parametrize("width", [340, 900])
@pytest.mark.parametrize("count", [2, 17, 33])
def test_names_of_cost_against_quality_never_overlap(bare, count, width):
    module = f"/{modules.address('results/scatter.js')}"
    for seen in bare.evaluate(NAMES_APART, [module, count, width]):
        assert seen == {"names": min(count, 17), "over": 0, "outside": 0}
