// @ts-check
// One side of the viewer: its frame, its method, its answer. viewer.js decides which run it shows.

import { showAnswer } from "./answers.js";
import { placeOf, sameGrid } from "./data.js";
import { make, percent, plural } from "./dom.js";
import { LOOKS, paintGroup } from "./looks.js";
import { boundWords, keptWords, spell } from "./relevance.js";
import { areaOf, fitCanvas, paintChanges, paintFrame, paintRing } from "./paint.js";
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
    return this.pane.clientWidth;
  }

  // Fit the frame to the width of the side, at most `tallest` pixels high.
  fit({ width, height }, tallest) {
    if (!this.width && this.size[0]) return; // in a closed tab: keep the size
    const scale = Math.min(this.width / width, tallest / height);
    this.size = [Math.round(width * scale), Math.round(height * scale)];
    const [wide, tall] = this.size;
    Object.assign(this.canvas.style, { width: `${wide}px`, height: `${tall}px` });
    Object.assign(this.#part(".gv-video").style, { width: `${wide}px`, height: `${tall}px` });
  }

  // The box of all tokens of a grid on the frame, in page pixels.
  boxOf(grid) {
    return areaOf(grid, ...this.size);
  }

  // Write the token count, the answer, and the fraction of object tokens kept.
  describe({ method, stage, grid, truth, evidence }, found, reference, viewer) {
    const count = this.#part(".gv-count");
    const share = stage.total === grid.total ? "" : ` (${percent(stage.total / grid.total)})`;
    const from = stage.layer ? ` from layer ${stage.layer} on` : "";
    count.textContent = `${plural(stage.total, "token")}${share}${from}`;
    this.pane.setAttribute("aria-label", `${this.key.toUpperCase()}: ${method.label}`);
    showAnswer(this.answer, found, reference, () => viewer.tellServer("ask", { side: this.key }));
    const { clip: { relevance }, kind } = viewer;
    const reply = /** @type {HTMLElement} */ (this.answer.querySelector(".gv-reply"));
    if (kind === "relevance" && relevance && reply?.textContent === relevance.answer) spell(reply, relevance, viewer);
    const [objects, mattered, changed] = this.#part(".gv-evidence").children;
    objects.textContent = evidence ? evidenceWords(truth, evidenceKept(evidence, stage)) : "";
    mattered.textContent = keptWords(method);
    /** @type {HTMLElement} */ (mattered).title = method.mattered ? boundWords(method.mattered) : "";
    const isMain = viewer.shown().main.key === this.key;
    changed.textContent = isMain ? viewer.changes.words() : "";
    /** @type {HTMLElement} */ (changed).onclick = () => viewer.visitUnit(viewer.changes.most);
  }

  /** Draw the current frame and tokens of `side`, an entry of `sides` in `Viewer.shown()`. */
  draw(side, other, shown) {
    const { clip, frame, kind, marks, truth } = shown;
    const [wide, tall] = this.size;
    const context = fitCanvas(this.canvas, wide, tall);
    paintFrame(context, clip.sheet, clip.value.tiles, frame, wide, tall);
    const box = this.boxOf(side.grid);
    LOOKS[side.heat === null ? "kept" : kind](context, box, side, other, shown);
    context.globalAlpha = 1;
    if (truth && marks.outline) paintTruth(context, truth.boxes[frame] ?? [], wide, tall);
    this.#paintMarks(context, box, side, shown);
  }

  #paintMarks(context, box, side, { marks: { hovered, pinned, grid, changed }, kind, main }) {
    if (changed && side === main) paintChanges(context, box, changed.subarray(side.first, side.first + side.grid.perUnit));
    if (!grid || !sameGrid(grid, side.grid)) return;
    if (hovered >= 0 && side.stage.merges && kind === "kept") paintGroup(context, box, side, side.first + hovered);
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

// A sentence on how many tokens on the objects of the right answer are kept.
function evidenceWords({ names }, [kept, all]) {
  if (!all) return "";
  const objects = names.length === 1 ? `the ${names[0]}` : `these ${names.length} objects`;
  return `Kept ${kept} of ${plural(all, "token")} on ${objects}`;
}
