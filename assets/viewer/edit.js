// @ts-check
// Dropping or adding tokens of B by hand. The kept tokens become a setting of the page ("gleanvid:edit"), so that
// masks and answer change as after moving a slider. When another setting of B changes, the page ends the edit.

import { placeOf, sameGrid } from "./data.js";
import { make, plural } from "./dom.js";
import { boxOf } from "./paint.js";
import { leave, walk } from "./pointer.js";

export class Edit {
  isOn = false;
  #kept = new Uint8Array(); // 1 for every token that is kept now
  #start = { grid: null, kept: new Uint8Array(), isEdited: false }; // the tokens of B before the edit
  #before = []; // earlier sets of kept tokens, for undo
  #after = []; // undone sets of kept tokens, for redo
  #sent = ""; // the setting that was sent last
  #isDrawn = false; // whether #kept is drawn although the server may not have answered yet
  #clip = ""; // name of the page's clip
  #corner = -1; // the token on which a pointer went down
  #brush = make("div", "gv-brush");

  /** @param {import("./viewer.js").Viewer} viewer */
  constructor(viewer) {
    this.viewer = viewer;
    this.panel = viewer.part(".gv-edit");
    this.button = viewer.part("[data-act=edit]");
    this.button.addEventListener("click", () => (this.isOn ? this.leave() : this.#begin()));
    const acts = {
      undo: () => this.#step(this.#before, this.#after),
      redo: () => this.#step(this.#after, this.#before),
      reset: () => this.#change(this.#start.kept),
      object: () => this.#withoutObject(),
    };
    for (const [name, act] of Object.entries(acts)) this.#part(`[data-edit=${name}]`).addEventListener("click", act);
    this.#brush.hidden = true;
    viewer.panes.b.stage.append(this.#brush);
    document.addEventListener("gleanvid:setting", (/** @type {CustomEvent} */ { detail }) => this.#hear(detail));
  }

  /** @returns {any} */
  #part(selector) {
    return this.panel.querySelector(selector);
  }

  // Whether a pointer on the frame of this side edits tokens.
  takes(pane) {
    return this.isOn && pane.key === "b";
  }

  #hear({ name, value }) {
    if (name === "by_hand.keep" && value !== this.#sent) this.#forget(value);
    if (name !== "clip") return;
    if (this.#clip && value !== this.#clip) this.#send("");
    this.#clip = value;
  }

  // The settings of the page changed: discard the edit, which belongs to the previous B.
  #forget(value = "") {
    this.#sent = value;
    this.#start.grid = null;
    this.leave();
  }

  // Start editing B. If B already has changes by hand, on the same grid, Undo can still take them back.
  #begin() {
    const { viewer } = this;
    if (!viewer.clip || viewer.b === null) return;
    const { main: { grid, stage, method } } = viewer.shown();
    const isEdited = method.name === "by_hand";
    if (!isEdited || !this.#start.grid || !sameGrid(grid, this.#start.grid)) {
      this.#start = { grid, kept: stage.kept, isEdited };
      this.#kept = stage.kept;
      [this.#before, this.#after] = [[], []];
    }
    this.isOn = true;
    viewer.onHalt();
    viewer.handled = "b";
    viewer.refresh();
    viewer.panes.b.canvas.focus({ preventScroll: true });
    viewer.telling.say("Edit B: arrows move, Space changes a token, Escape leaves.");
  }

  // The stage of B as edited, which is drawn before the server has answered with the same tokens.
  drawn(stage, key, grid) {
    const kept = this.#kept;
    if (key !== "b" || !this.#isDrawn || !sameGrid(grid, this.#start.grid) || isSame(kept, stage.kept)) return stage;
    const budgets = Array.from({ length: grid.units }, (_, unit) => count(kept.subarray(unit * grid.perUnit, (unit + 1) * grid.perUnit)));
    return { ...stage, layer: 0, kept, budgets, total: count(kept), merges: false, home: null, weight: null, turns: undefined };
  }

  // Draw B as the server knows it.
  undraw() {
    if (!this.#isDrawn) return;
    this.#isDrawn = false;
    if (this.viewer.clip) this.viewer.refresh();
  }

  leave() {
    this.isOn = false;
    this.undraw();
    this.#corner = -1;
    this.#brush.hidden = true;
    if (this.viewer.clip) this.describe(this.viewer.shown());
  }

  describe({ main, sides }) {
    const { grid, kept: start } = this.#start;
    if (this.isOn && (sides.length < 2 || !grid || !sameGrid(grid, main.grid))) this.isOn = false;
    this.button.hidden = sides.length < 2;
    this.button.setAttribute("aria-pressed", String(this.isOn));
    this.panel.hidden = !this.isOn;
    this.viewer.root.toggleAttribute("data-editing", this.isOn);
    if (!this.isOn) return;
    this.#part("output").textContent = countWords(count(this.#kept), count(start));
    const useful = { undo: this.#before.length > 0, redo: this.#after.length > 0, reset: !isSame(this.#kept, start) };
    for (const [name, is] of Object.entries(useful))
      this.#part(`[data-edit=${name}]`).setAttribute("aria-disabled", String(!is)); // unlike `disabled`, keeps the focus
    this.#part("[data-edit=object]").hidden = !main.evidence?.includes(1);
  }

  // --- changes -----------------------------------------------------------------------------------

  // Keep (1) or drop (0) these tokens; with "All units" also the tokens at the same positions in every unit.
  #put(tokens, value) {
    const { grid } = this.#start;
    const kept = this.#kept.slice();
    const isWhole = this.#part("input").checked;
    for (const token of tokens) {
      const first = isWhole ? token % grid.perUnit : token;
      for (let at = first; at < (isWhole ? grid.total : token + 1); at += grid.perUnit) kept[at] = value;
    }
    this.#change(kept);
  }

  #withoutObject() {
    const { evidence } = this.viewer.shown().main;
    this.#put([...evidence.keys()].filter((token) => evidence[token]), 0);
  }

  #change(kept) {
    if (!kept.includes(1)) return this.viewer.telling.say("B must keep at least one token.");
    if (isSame(kept, this.#kept)) return;
    this.#before.push(this.#kept);
    this.#after = [];
    this.#show(kept);
  }

  #step(from, to) {
    if (!from.length) return;
    to.push(this.#kept);
    this.#show(from.pop());
  }

  #show(kept) {
    const { viewer } = this;
    this.#kept = kept;
    for (const pane of Object.values(viewer.panes)) pane.card.hidden = true; // the card's text is outdated
    this.#isDrawn = true;
    viewer.refresh();
    viewer.telling.say(this.#part("output").textContent);
    const { grid, kept: start, isEdited } = this.#start;
    this.#send(isSame(kept, start) && !isEdited ? "" : textOf(grid, kept));
  }

  #send(keep) {
    this.#sent = keep;
    document.dispatchEvent(new CustomEvent("gleanvid:edit", { detail: { keep } }));
  }

  // --- pointer and keyboard ----------------------------------------------------------------------

  // Handle the pointer on the frame of B: a click edits one token, a drag a rectangle. `placeUnder` returns the
  // index within the unit of the token under an event, -1 for none.
  attach(placeUnder) {
    const { canvas } = this.viewer.panes.b;
    canvas.addEventListener("pointerdown", (event) => {
      if (!this.isOn || event.button) return;
      this.#corner = placeUnder(event);
      if (this.#corner >= 0 && event.pointerType !== "touch") canvas.setPointerCapture(event.pointerId);
    });
    canvas.addEventListener("pointermove", (event) => {
      const place = this.#corner < 0 ? -1 : placeUnder(event);
      if (place >= 0) this.#outline(place);
    });
    canvas.addEventListener("pointerup", (event) => {
      const [corner, place] = [this.#corner, placeUnder(event)];
      this.#lift();
      if (corner >= 0 && place >= 0) this.#brushOver(corner, place);
    });
    canvas.addEventListener("pointercancel", () => this.#lift());
  }

  #lift() {
    this.#corner = -1;
    this.#brush.hidden = true;
  }

  #outline(place) {
    const { b } = this.viewer.panes;
    const box = b.boxOf(this.#start.grid);
    const [[x, y, w, h], [x2, y2]] = [this.#corner, place].map((one) => boxOf(box, one));
    const [left, top] = [Math.min(x, x2) + b.canvas.offsetLeft, Math.min(y, y2) + b.canvas.offsetTop];
    const size = { width: `${Math.abs(x - x2) + w}px`, height: `${Math.abs(y - y2) + h}px` };
    Object.assign(this.#brush.style, { left: `${left}px`, top: `${top}px`, ...size });
    this.#brush.hidden = false;
    b.card.hidden = true; // the card would cover the tokens being chosen
  }

  // Toggle the first token of the rectangle, and give all its tokens the same state.
  #brushOver(corner, place) {
    const { main: { first, grid } } = this.viewer.shown();
    const [one, two] = [corner, place].map((at) => placeOf(grid, at));
    const inside = (at, low, high) => at >= Math.min(low, high) && at <= Math.max(low, high);
    const tokens = [...Array(grid.perUnit).keys()].filter((at) => {
      const { row, column } = placeOf(grid, at);
      return inside(row, one.row, two.row) && inside(column, one.column, two.column);
    });
    this.#put(tokens.map((at) => first + at), 1 - this.#kept[first + corner]);
  }

  // Handle a key; return whether it was an edit command.
  hearKey(event) {
    const { viewer } = this;
    if (!this.isOn) return false;
    const key = event.key.toLowerCase();
    const hasCommand = event.ctrlKey || event.metaKey;
    const onFrame = event.target === viewer.panes.b.canvas && !hasCommand;
    if (hasCommand && key === "z") event.shiftKey ? this.#step(this.#after, this.#before) : this.#step(this.#before, this.#after);
    else if (key === "escape") { this.leave(); leave(viewer); this.button.focus(); }
    else if (onFrame && key.startsWith("arrow")) { viewer.handled = "b"; walk(viewer, event.key); }
    else if (onFrame && [" ", "enter"].includes(key)) { if (viewer.hovered >= 0) this.#brushOver(viewer.hovered, viewer.hovered); }
    else return false;
    event.preventDefault();
    return true;
  }
}

const count = (kept) => kept.reduce((sum, one) => sum + one, 0);
const isSame = (one, other) => one.every((value, token) => value === other[token]);

function countWords(kept, budget) {
  const apart = Math.abs(kept - budget).toLocaleString("en");
  const side = kept < budget ? `${apart} below the budget` : kept > budget ? `${apart} above the budget` : "as many as the budget";
  return `${plural(kept, "token")} kept by hand, ${side} of ${budget.toLocaleString("en")}`;
}

// Format "2x3x4 0-5 9": the grid and the ranges of kept tokens, which `gleanvid.by_hand` reads.
function textOf({ units, rows, columns }, kept) {
  const ranges = [];
  kept.forEach((value, token) => {
    if (!value) return;
    if (token && kept[token - 1]) ranges.at(-1)[1] = token;
    else ranges.push([token, token]);
  });
  const words = ranges.map(([low, high]) => (low === high ? `${low}` : `${low}-${high}`));
  return [`${units}x${rows}x${columns}`, ...words].join(" ");
}
