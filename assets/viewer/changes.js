// @ts-check
// The effect of the last change of a setting, which stays in sight until the next one: tokens that came and went are
// marked and counted, and the budgets before are outlined.

import { sameGrid } from "./data.js";

export class Changes {
  /** @type {Int8Array | null} */
  marks = null; // change of each token: 1 came, -1 went
  /** @type {number[] | null} */
  budgets = null; // tokens kept in each unit before the change
  /** @type {number[]} */
  units = []; // number of changed tokens of each unit

  /** @param {import("./viewer.js").Viewer} viewer */
  constructor(viewer) {
    this.viewer = viewer;
  }

  // `before`, `now`: the side B, or the only side, before and after a change of the settings; `before` is null after
  // any other change.
  compare(before, now) {
    if (before?.method.id === now.method.id) return;
    // An edit by hand is drawn when the user makes it.
    const isMove = before?.method.name === now.method.name && now.method.name !== "by_hand"
      && before.stage.layer === now.stage.layer && sameGrid(before.grid, now.grid);
    if (!isMove) return this.#forget();
    const marks = Int8Array.from(now.stage.kept, (kept, token) => kept - before.stage.kept[token]);
    if (before.method.label === now.method.label && !marks.some(Boolean)) return; // only the question was asked again
    const { units, perUnit } = now.grid;
    this.marks = marks;
    this.budgets = before.stage.budgets;
    this.units = Array.from({ length: units }, (_, unit) =>
      marks.subarray(unit * perUnit, (unit + 1) * perUnit).filter(Boolean).length);
    this.viewer.telling.say(`${now.name ? `${now.name}: ` : ""}${this.words()}${this.#onObject(now.evidence)}`);
  }

  #forget() {
    this.marks = this.budgets = null;
    this.units = [];
  }

  // "11 came, 11 went"; empty without a change to tell.
  words() {
    if (!this.marks) return "";
    const count = (sign) => this.marks.filter((mark) => mark === sign).length;
    const [came, went] = [count(1), count(-1)];
    return came || went ? `${came.toLocaleString("en")} came, ${went.toLocaleString("en")} went` : "the same tokens as before";
  }

  #onObject(evidence) {
    const count = (sign) => this.marks.filter((mark, token) => mark === sign && evidence[token]).length;
    return evidence && this.marks.some(Boolean) ? `; on the object ${count(1)} came, ${count(-1)} went` : "";
  }

  // The unit with most changed tokens.
  get most() {
    return this.units.indexOf(Math.max(0, ...this.units));
  }
}
