// @ts-check
// The table of a comparison: sortable, its head and first column in sight, words of every answer
// marked against that of all tokens. Text from outside is only ever set as textContent.

import { difference } from "../viewer/answers.js";
import { button, header, make, order, table, verdict } from "../viewer/dom.js";
import { named } from "./swatch.js";

const STATES = { waiting: "…", running: "Running…", done: "(no words)" };
const MARKS = "Against the answer of all tokens: words it does not have are marked, words missing are struck out";

export class Table {
  /** @type {any} */
  value = null;
  pair = { a: null, b: null };
  /** @type {{ column: number, falling: boolean } | null} */
  sorted = null; // null: as compared

  constructor() {
    this.place = make("div", "gv-scroll");
    Object.assign(this.place, { tabIndex: 0, role: "region", ariaLabel: "Table of the comparison" });
  }

  load(value) {
    this.value = value;
    const reference = value.rows[0].answer;
    this.rows = value.rows.filter(({ state }) => state !== "failed")
      .map((row, place) => entry(row, place, reference));
    this.known = value.asked.expected !== null;
    this.#show();
  }

  // The viewer answers with the pair that it shows.
  mark(pair) {
    this.pair = pair;
    for (const button of this.place.querySelectorAll("button[data-side]"))
      button.setAttribute("aria-pressed", String(pair[button.dataset.side] === button.dataset.label));
  }

  // [title, unit, meaning, what it sorts by]
  #columns() {
    const verdict = this.known
      ? ["Verdict", "", "Whether the words are those of the right answer", (row) => row.right]
      : ["Same words", "%", "Share of words in common with the answer of all tokens, in order", (row) => row.agreement];
    const figures = this.value.columns.map(([title, unit, meaning], place) =>
      [title, unit, meaning, (row) => row.cells[place][1]]);
    return [["Method", "", "", (row) => row.label], ["Viewer", "", "Sets a side of the viewer", null],
      ["Answer", "", MARKS, (row) => row.answer], verdict, ...figures];
  }

  #show() {
    const columns = this.#columns();
    const rows = [...this.rows];
    if (this.sorted) {
      const value = columns[this.sorted.column][3];
      rows.sort((one, other) => order(value(one), value(other), this.sorted.falling));
    }
    const heads = columns.map((column, place) => this.#head(column, place));
    const whole = table("gv-table", "Every method with its answer and its cost", heads, rows.map((row) => this.#line(row)));
    const { scrollTop, scrollLeft } = this.place;
    this.place.replaceChildren(whole);
    Object.assign(this.place, { scrollTop, scrollLeft });
    this.mark(this.pair);
  }

  // What the columns say, for those who cannot point at their titles: a list that opens.
  meanings() {
    const told = this.#columns().filter(([, , meaning]) => meaning);
    return folded("What the columns say", told);
  }

  #head([title, unit, meaning, value], place) {
    const head = Object.assign(header(""), { title: meaning });
    if (!value) return head.append(make("span", "", title)), head;
    const falling = this.sorted?.column === place ? this.sorted.falling : null;
    const arrow = falling === null ? "" : falling ? " ↓" : " ↑";
    if (falling !== null) head.ariaSort = falling ? "descending" : "ascending";
    head.append(button(title + arrow, () => {
      // Rising, falling, as compared.
      this.sorted = falling === null ? { column: place, falling: false }
        : falling ? null : { column: place, falling: true };
      this.#show();
      /** @type {any} */ (this.place.querySelectorAll("thead th")[place].firstChild).focus();
    }, "gv-plain"));
    if (unit) head.firstChild.append(make("small", "", unit));
    return head;
  }

  #line(row) {
    const head = header("", "row", make("span", "gv-name", "", ...named(row)));
    const said = make("div", "gv-said", "", ...row.pieces.map((piece) => piece.cloneNode?.(true) ?? piece));
    const cells = row.cells.map(([text]) => make("td", "", text));
    return make("tr", `gv-${row.state}`, "", head, make("td", "gv-view", "", ...this.#sides(row)),
      make("td", "gv-answer", "", said), make("td", "", "", ...this.#verdict(row)), ...cells);
  }

  #verdict({ right, agreement }) {
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

/** @param {any[][]} columns  title, unit and meaning of each */
export function folded(summary, columns) {
  const list = make("dl", "gv-meanings", "",
    ...columns.flatMap(([title, , meaning]) => [make("dt", "", title), make("dd", "", `${meaning}.`)]));
  return make("details", "gv-more", "", make("summary", "", summary), list);
}

// A row with its words held against those of all tokens, which is the first one.
function entry(row, place, reference) {
  if (row.answer === null || reference === null) {
    const text = row.answer || STATES[row.state];
    return { ...row, pieces: [text], agreement: null };
  }
  const { pieces, agreement } = difference(row.answer, reference);
  return { ...row, pieces: place && row.answer ? pieces : [row.answer || STATES.done], agreement };
}
