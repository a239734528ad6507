// @ts-check
// One side on the page: its frame, its method, its answer. What it shows is decided in viewer.js.

import { showAnswer } from "./answers.js";
import { placeOf, sameGrid } from "./data.js";
import { make, plural, short } from "./dom.js";
import { LOOKS, paintGroup } from "./looks.js";
import { boundWords, keptWords, spell } from "./relevance.js";
import { fitCanvas, paintChanges, paintDisc, paintFrame, paintRing } from "./paint.js";
import { evidenceKept, paintTruth } from "./truth.js";

const PINNED = "#ff7a33";

export class Side {
  /** @type {[number, number]} */
  size = [0, 0];

  /**
   * @param {HTMLElement} root
   * @param {"a" | "b"} key
   */
  constructor(root, key) {
    this.key = key;
    this.pane = /** @type {HTMLElement} */ (root.querySelector(`.gv-pane[data-side=${key}]`));
    this.stage = this.#part(".gv-stage");
    this.canvas = this.pane.querySelector("canvas");
    this.card = this.#part(".gv-card");
    this.answer = this.#part(".gv-answered");
  }

  /** @returns {HTMLElement} */
  #part(selector) {
    return this.pane.querySelector(selector);
  }

  get width() {
    return this.stage.clientWidth;
  }

  // Size the frame to its place, at most `tallest` pixels high.
  fit({ width, height }, tallest) {
    if (!this.width && this.size[0]) return; // in a tab that is not open: as large as before
    const scale = Math.min(this.width / width, tallest / height);
    this.size = [Math.round(width * scale), Math.round(height * scale)];
    const [wide, tall] = this.size;
    Object.assign(this.canvas.style, { width: `${wide}px`, height: `${tall}px` });
    Object.assign(this.#part(".gv-video").style, { width: `${wide}px`, height: `${tall}px` });
  }

  // Where the tokens of a grid lie on the frame, in page pixels.
  boxOf(grid) {
    const [left, top, right, bottom] = grid.area;
    const [wide, tall] = this.size;
    return {
      rows: grid.rows, columns: grid.columns, left: left * wide, top: top * tall,
      width: (right - left) * wide, height: (bottom - top) * tall,
    };
  }

  // Write the token count, the answer, and the fraction of object tokens kept.
  describe({ method, stage, grid, evidence }, found, reference, viewer) {
    const count = this.#part(".gv-count");
    const share = stage.total === grid.total ? "" : ` (${short(100 * stage.total / grid.total)} %)`;
    const from = stage.layer ? ` from layer ${stage.layer} on` : "";
    count.textContent = `${plural(stage.total, "token")}${share}${from}`;
    this.pane.setAttribute("aria-label", `${this.key.toUpperCase()}: ${method.label}`);
    showAnswer(this.answer, found, reference, {
      again: () => viewer.tellServer("ask", { side: this.key }), labels: viewer.labels,
    });
    const { clip: { relevance }, kind } = viewer;
    const reply = /** @type {HTMLElement} */ (this.answer.querySelector(".gv-reply"));
    if (kind === "relevance" && relevance && reply?.textContent === relevance.answer) spell(reply, relevance, viewer);
    const [objects, mattered] = this.#part(".gv-evidence").children;
    objects.textContent = evidence ? evidenceWords(evidenceKept(evidence, stage)) : "";
    mattered.textContent = keptWords(stage.mattered);
    /** @type {HTMLElement} */ (mattered).title = stage.mattered ? boundWords(stage) : "";
  }

  /** Draw what `side`, an entry of `Viewer.shown()`, has on this frame. */
  draw(side, other, shown) {
    const { clip, frame, kind, marks } = shown;
    const [wide, tall] = this.size;
    const context = fitCanvas(this.canvas, wide, tall);
    paintFrame(context, clip.sheet, clip.value.tiles, frame, wide, tall);
    const box = this.boxOf(side.grid);
    LOOKS[side.heat === null ? "kept" : kind](context, box, side, other, shown);
    context.globalAlpha = 1;
    if (clip.value.truth && marks.truth) paintTruth(context, clip.value.truth.boxes[frame] ?? [], wide, tall);
    const { label } = shown.marks;
    if (label?.unit === side.unit) paintTruth(context, [label.box], wide, tall);
    this.#paintMarks(context, box, side, shown);
  }

  #paintMarks(context, box, side, { marks: { hovered, pinned, alike, grid, changed }, kind, main }) {
    if (changed && side === main) paintChanges(context, box, changed.subarray(side.first, side.first + side.grid.perUnit));
    if (!grid || !sameGrid(grid, side.grid)) return;
    if (hovered >= 0 && side.stage.merges && kind === "kept") paintGroup(context, box, side, side.first + hovered);
    alike.forEach(({ token }, index) => {
      if (placeOf(grid, token).unit === side.unit) paintDisc(context, box, token - side.first, `${index + 1}`);
    });
    if (pinned >= 0) {
      const here = placeOf(grid, pinned).unit === side.unit;
      paintRing(context, box, pinned % grid.perUnit, PINNED, here ? [] : [4, 3]);
    }
    if (hovered >= 0) paintRing(context, box, hovered);
  }

  // Show a card with these lines next to (x, y) of the frame.
  showCard(lines, x, y) {
    const { card, canvas } = this;
    card.replaceChildren(...lines.map(([text, kind]) => make("div", kind, text)));
    card.hidden = false;
    const flip = x + 24 + card.offsetWidth > this.width;
    const left = canvas.offsetLeft + (flip ? x - card.offsetWidth - 16 : x + 16);
    const top = Math.min(y + 12, canvas.clientHeight - card.offsetHeight - 4);
    Object.assign(card.style, { left: `${Math.max(4, left)}px`, top: `${Math.max(4, top)}px` });
  }
}

/** @param {number[]} counts */
const evidenceWords = ([kept, all]) => (all ? `Object tokens kept: ${kept} of ${all}` : "");
