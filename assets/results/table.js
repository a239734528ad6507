// @ts-check
// The table of a comparison: sortable, with a fixed head and first column. In every answer, words that differ
// from the answer of all tokens are marked. Text from outside is only ever set as textContent.

import { difference } from "../viewer/answers.js";
import { clock, total } from "../viewer/clock.js";
import { button, header, make, order, table, verdict } from "../viewer/dom.js";
import { named } from "./swatch.js";

const STATES = { waiting: "…", running: "Running…", done: "(no words)" };
const FIRST_TOKEN = "First token"; // title of the column with the time to the first token
const MARKS = "Compared with the answer given with all tokens: added words are marked, missing words are struck out";

export class Table {
  /** @type {any} */
  value = null;
  pair = { a: null, b: null };
  /** @type {{ column: number, falling: boolean } | null} */
  sorted = null; // column to sort by; null: order of the comparison

  constructor() {
    this.place = make("div", "gv-scroll");
    Object.assign(this.place, { tabIndex: 0, role: "region", ariaLabel: "Table of the comparison" });
  }

  /** @param {any[]} missing  rows of earlier tables that were not run for this question */
  load(value, missing = []) {
    this.value = value;
    this.missing = missing;
    const reference = value.rows[0].answer;
    this.rows = value.rows.filter(({ state }) => state !== "failed")
      .map((row, place) => entry(row, place, reference));
    this.known = value.asked.expected !== null;
    this.isSilent = !value.asked.question; // the model answers no questions
    this.isList = value.asked.count > 1 || value.rows.some(({ each }) => each.length);
    this.longest = Math.max(0, ...this.rows.map(({ parts }) => total(told(parts))));
    this.place.toggleAttribute("data-list", this.isList);
    // Leave out columns without any number.
    this.figures = value.columns.filter(([title]) => this.rows.some(({ cells }) => cells[title][1] !== null));
    this.#show();
  }

  // Show as pressed the buttons of the two runs that the viewer shows.
  mark(pair) {
    this.pair = pair;
    for (const button of this.place.querySelectorAll("button[data-side]"))
      button.setAttribute("aria-pressed", String(pair[button.dataset.side] === button.dataset.label));
  }

  // Each column: [title, unit, meaning, function that returns the value to sort by]
  #columns() {
    const right = (row) => row.quality?.value ?? null;
    const verdict = this.isList
      ? ["Right", "of all, 95 %", "How many of the listed questions are answered right, with Wilson's 95 % interval. If no right answers are known: the fraction of words in common with the answers given with all tokens", right]
      : this.known
      ? ["Verdict", "", "Whether the answer has the same words as the right answer", (row) => row.right]
      : ["Same words", "%", "Fraction of words in common with the answer given with all tokens, in the same order", (row) => row.agreement];
    const figures = this.figures.map(([title, unit, meaning]) => [title, unit, meaning, (row) => row.cells[title][1]]);
    const words = this.isSilent ? [] : [["Answer", "", MARKS, (row) => row.answer], verdict];
    return [["Method", "", "", (row) => row.label], ["Viewer", "", "Shows this run as A or B in the viewer", null],
      ...words, ...figures];
  }

  #show() {
    const columns = this.#columns();
    const rows = [...this.rows];
    if (this.sorted) {
      const value = columns[this.sorted.column][3];
      rows.sort((one, other) => order(value(one), value(other), this.sorted.falling));
    }
    const heads = columns.map((column, place) => this.#head(column, place));
    const lines = [...rows.map((row) => this.#line(row)), ...this.missing.map((row) => this.#empty(row, columns.length))];
    const whole = table("gv-table", "Every method with its answer and its cost", heads, lines);
    const { scrollTop, scrollLeft } = this.place;
    this.place.replaceChildren(whole);
    Object.assign(this.place, { scrollTop, scrollLeft });
    this.mark(this.pair);
  }

  // A list that explains the columns, for people who cannot hover over their titles.
  meanings() {
    const told = this.#columns().filter(([, , meaning]) => meaning);
    return folded("Meaning of the columns", told);
  }

  #head([title, unit, meaning, value], place) {
    const head = Object.assign(header(""), { title: meaning });
    if (!value) return head.append(make("span", "", title)), head;
    const falling = this.sorted?.column === place ? this.sorted.falling : null;
    const arrow = falling === null ? "↕" : falling ? "↓" : "↑";
    if (falling !== null) head.ariaSort = falling ? "descending" : "ascending";
    const sort = button(title, () => {
      // Each press sorts ascending, then descending, then in the order of the comparison.
      this.sorted = falling === null ? { column: place, falling: false }
        : falling ? null : { column: place, falling: true };
      this.#show();
      /** @type {any} */ (this.place.querySelectorAll("thead th")[place].firstChild).focus();
    }, "gv-plain");
    const sign = make("span", "gv-sort", ` ${arrow}`);
    sign.ariaHidden = "true";
    sort.append(sign, ...(unit ? [make("small", "", unit)] : []));
    return head.append(sort), head;
  }

  #line(row) {
    const head = header("", "row", make("span", "gv-name", "", ...named(row)));
    const said = this.isList && row.each.length ? this.#each(row)
      : make("div", "gv-said", "", ...row.pieces.map((piece) => piece.cloneNode?.(true) ?? piece));
    const cells = this.figures.map(([title]) => this.#cell(row, title));
    const words = this.isSilent ? [] : [make("td", "gv-answer", "", said), make("td", "", "", ...this.#verdict(row))];
    return make("tr", `gv-${row.state}`, "", head, make("td", "gv-view", "", ...this.#sides(row)), ...words, ...cells);
  }

  // A row without a run for this question, with a button that adds it to the comparison.
  #empty(row, width) {
    const run = button("Run it too", () => tickAndCompare(row), "gv-plain");
    const cell = Object.assign(make("td", "", "not run for this question ", run), { colSpan: width - 1 });
    return make("tr", "gv-missing", "", header("", "row", make("span", "gv-name", "", ...named(row))), cell);
  }

  // The cell of the time to the first token also shows the fastest and slowest of several passes, and a bar of its
  // stages.
  #cell({ cells, parts, spread }, title) {
    const cell = make("td", "", cells[title][0]);
    if (title !== FIRST_TOKEN || !parts.length) return cell;
    if (spread) {
      const [least, most, passes] = spread;
      cell.append(Object.assign(make("small", "gv-spread", ` (${least.toFixed(2)}–${most.toFixed(2)})`), { title: `Median, lowest and highest value of ${passes} passes` }));
    }
    cell.append(clock(told(parts), this.longest));
    return cell;
  }

  // List the questions of a row with their answers; a click on a question about the page's clip opens its run in the viewer.
  #each(row) {
    const lines = row.each.map((one) => {
      const sign = one.right === null ? "" : one.right ? "✓ " : "✗ ";
      const open = button(one.question, () => {
        const detail = { b: "", id: one.id, source: "compare" };
        document.dispatchEvent(new CustomEvent("gleanvid:pair", { detail }));
      }, "gv-plain");
      if (one.clip) open.append(make("small", "", ` ${one.clip}`));
      Object.assign(open, { disabled: !this.value.done || Boolean(one.clip), title: "Show this run as B in the viewer" });
      const marked = make("b", one.right === false ? "gv-wrong" : "gv-right", sign);
      const truth = one.right === false ? [make("small", "", ` right answer: ${one.expected}`)] : [];
      return make("li", "", "", marked, open, make("span", "", ` ${one.answer || STATES.done}`, ...truth));
    });
    const wrong = row.each.filter(({ right }) => right === false).length;
    const title = wrong ? `${wrong} wrong of ${row.each.length} answers` : `${row.each.length} answers`;
    const summary = make("summary", "", title);
    const list = make("details", "gv-each", "", summary, make("ul", "", "", ...lines));
    summary.addEventListener("click", (event) => {
      event.preventDefault();
      this.#inPlace(summary, () => list.toggleAttribute("open"));
    });
    return list;
  }

  // Change the height of the table without moving this part of it in the window.
  #inPlace(part, change) {
    const top = () => part.getBoundingClientRect().top;
    const before = top();
    change();
    this.place.scrollTop += top() - before;
    window.scrollBy(0, top() - before);
  }

  #verdict({ right, agreement, quality }) {
    if (this.isList) return quality ? [shareText(quality)] : [];
    if (right !== null) return [make("span", right ? "gv-right" : "gv-wrong", verdict(right))];
    return agreement === null || this.known ? [] : [`${Math.round(100 * agreement)} %`];
  }

  #sides({ id, label }) {
    return (this.value.done && id ? ["a", "b"] : []).map((side) => {
      const choice = button(side.toUpperCase(), () => {
        const detail = { [side]: label, id, source: "compare" };
        document.dispatchEvent(new CustomEvent("gleanvid:pair", { detail }));
      }, "gv-side");
      Object.assign(choice.dataset, { side, label });
      choice.setAttribute("aria-label", `Show ${label} as ${side.toUpperCase()} in the viewer`);
      return choice;
    });
  }
}

// Tick the boxes of a row's compressor and retention ratio, then compare.
function tickAndCompare({ method, ratio }) {
  const percent = ratio === null ? "" : `${Math.round(100 * ratio)}%`;
  for (const label of document.querySelectorAll(".gv-choices label")) {
    const box = label.querySelector("input");
    if ([method, percent].includes(label.textContent.trim()) && !box.checked) box.click();
  }
  requestAnimationFrame(() => document.getElementById("gv-compare-start").click());
}

// The stages of a row without decoding: the clip is decoded once for all rows.
const told = (parts) => parts.filter(([name]) => name !== "read");

/** Quality as text: "3 of 4 (30–95 %)"; without known right answers, the words shared with all tokens' answers. */
export function shareText({ value, right, of, low, high, mattered = false }) {
  const percent = (share) => Math.round(100 * share);
  if (mattered) return `${percent(value)} % of what mattered`;
  return of ? `${right} of ${of} (${percent(low)}–${percent(high)} %)` : `${percent(value)} % as all tokens`;
}

/** @param {any[][]} columns  title, unit and meaning of each */
export function folded(summary, columns) {
  const list = make("dl", "gv-meanings", "",
    ...columns.flatMap(([title, , meaning]) => [make("dt", "", title), make("dd", "", `${meaning}.`)]));
  return make("details", "gv-more", "", make("summary", "", summary), list);
}

// Return a row with its answer compared word by word with the answer of all tokens, which is in the first row.
function entry(row, place, reference) {
  if (row.answer === null || reference === null) {
    const text = row.answer || (row.state === "running" && row.step) || STATES[row.state];
    return { ...row, pieces: [text], agreement: null };
  }
  const { pieces, agreement } = difference(row.answer, reference);
  return { ...row, pieces: place && row.answer ? pieces : [row.answer || STATES.done], agreement };
}
