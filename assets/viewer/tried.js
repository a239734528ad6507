// @ts-check
// The table of earlier runs on this clip: a line for every run with an answer. Any two runs can be shown as A and B.

import { button, make, missing, table, verdict } from "./dom.js";

const figure = (value, text) => (missing(value) ? "–" : text(value));

/**
 * Title of a column, function that returns the value, function that formats it.
 * @type {[string, (row: any) => any, ((value: any) => string)?][]}
 */
const COLUMNS = [
  ["Method", ({ method }) => method.label],
  ["Question", ({ answer }) => answer.question],
  ["Answer", ({ answer }) => answer.text],
  ["Verdict", ({ answer }) => answer.right, verdict],
  ["Tokens", ({ method }) => method.stages.at(-1).total, (total) => total.toLocaleString("en")],
  ["First token", ({ answer }) => answer.ttft_s, (seconds) => `${seconds.toFixed(2)} s`],
  ["FLOPs saved", ({ answer }) => answer.flops_saved, (share) => `${Math.round(100 * share)} %`],
];

const MOST = 28; // most runs that the viewer holds: MAX_METHODS of components/viewer/payload.py

export class Tried {
  /** @param {import("./viewer.js").Viewer} viewer */
  constructor(viewer) {
    this.viewer = viewer;
    this.place = viewer.part(".gv-tried");
    this.table = viewer.part(".gv-tried table");
  }

  show() {
    const { clip, answers } = this.viewer;
    const rows = clip.methods
      .map((method, index) => ({ method, index, answer: answers.find(({ run }) => run === method.id) }))
      .filter(({ answer }) => answer);
    this.place.hidden = rows.length === 0;
    const all = clip.methods.length < MOST ? "" : `; only the last ${MOST} are kept`;
    this.place.querySelector("summary").textContent = `Runs tried on this clip (${rows.length}${all})`;
    const heads = ["Side", ...COLUMNS.map(([title]) => title)].map((title) => make("th", "", title));
    this.table.replaceChildren(...table("", "", heads, rows.map((row) => this.#line(row))).children);
  }

  #line(row) {
    const line = make("tr", "", "", make("td", "", "", this.#to("a", row), this.#to("b", row)));
    for (const [, value, text = String] of COLUMNS) line.append(make("td", "", figure(value(row), text)));
    return line;
  }

  #to(side, { method, index }) {
    const { viewer } = this;
    const name = side.toUpperCase();
    const choice = button(name, () => {
      viewer.choose(side, index);
      viewer.tellServer("pair", viewer.pair);
    }, "gv-to");
    choice.ariaPressed = String(viewer[side] === index);
    choice.ariaLabel = `${method.label} as ${name}`;
    return choice;
  }
}
