// @ts-check
// All units as small frames that show the tokens kept by each side, A above B. If they do not fit, they scroll.
// Only visible frames are painted, each once until the view changes.

import { fateOf, firstFrame } from "./data.js";
import { heatColour, SHADES } from "./looks.js";
import { A_COLOUR, B_COLOUR, DARK, areaOf, fitCanvas, paintCells, paintFrame } from "./paint.js";

const TALL = 28; // greatest height of a small frame in pixels
const [LEAST, MOST] = [20, 96]; // smallest and largest width of a small frame in pixels; frames that would be smaller scroll
const GAP = 2;
const SHADE = 0.85;
const COLUMNS = 64; // columns of the canvas that caches the small frames of a side
const SHARPEST = 2; // most screen pixels per page pixel

// Colour of a token in each view without a heat map, as in looks.js.
const COLOURS = {
  kept: ({ stage }) => (token) => SHADES[fateOf(stage, token)],
  ab: ({ key, stage }, other) => (token) =>
    (!stage.kept[token] ? DARK : other.stage.kept[token] ? null : key === "a" ? A_COLOUR : B_COLOUR),
  original: () => () => null,
};

export class Film {
  #rows = []; // one per side: { canvas, context, painted, colour }
  #of = []; // data from which the small frames are painted
  #width = 0; // width of the visible part in pixels
  #size = [0, 0]; // width and height of a small frame in pixels
  #slot = 0; // distance between two small frames
  #unit = -1; // the unit last scrolled into view

  /** @param {import("./viewer.js").Viewer} viewer */
  constructor(viewer) {
    this.viewer = viewer;
    this.place = viewer.part(".gv-film");
    this.canvas = this.place.querySelector("canvas");
    this.place.addEventListener("scroll", () => viewer.redraw(), { passive: true });
    this.place.addEventListener("click", (event) => {
      if (viewer.clip) viewer.visitUnit(this.#unitAt(event.clientX));
    });
  }

  #unitAt(x) {
    const within = x - this.place.getBoundingClientRect().left + this.place.scrollLeft;
    return Math.max(0, Math.min(Math.floor(within / this.#slot), this.viewer.shown().main.grid.units - 1));
  }

  describe({ beside }) {
    this.place.title = beside ? "All temporal units, run A above run B" : "All temporal units";
  }

  // Set the size of the small frames and whether they scroll.
  measure({ clip, main, sides }) {
    this.#width = this.place.clientWidth;
    const { width, height } = clip.value.tiles;
    const room = Math.max(LEAST, this.#width / main.grid.units - GAP); // a small frame is at most as wide as its bar below
    const wide = Math.floor(Math.min(TALL * width / height, MOST, room));
    this.#size = [Math.max(LEAST, wide), Math.round(Math.min(TALL, wide * height / width))];
    this.#slot = Math.max(this.#size[0] + GAP, this.#width / main.grid.units);
    /** @type {HTMLElement} */ (this.place.firstElementChild).style.width = `${this.#slot * main.grid.units - 1}px`;
    Object.assign(this.canvas.style, { width: `${this.#width}px`, height: `${sides.length * (this.#size[1] + GAP) + GAP}px` });
    this.#unit = -1;
  }

  draw(shown, colours) {
    const { main, sides } = shown;
    if (!this.#width) return;
    this.#renew(shown);
    this.#bringIntoSight(main.unit);
    const [wide, tall] = this.#size;
    const ratio = Math.min(window.devicePixelRatio || 1, SHARPEST);
    const left = this.place.scrollLeft;
    this.#showPart(left, main.grid.units * this.#slot);
    const context = fitCanvas(this.canvas, this.#width, sides.length * (tall + GAP) + GAP);
    context.clearRect(0, 0, this.canvas.width, this.canvas.height);
    const last = Math.min(main.grid.units, Math.ceil((left + this.#width) / this.#slot));
    for (let unit = Math.floor(left / this.#slot); unit < last; unit++) {
      const x = unit * this.#slot - left + (this.#slot - wide) / 2;
      sides.forEach((side, index) => {
        const row = this.#rows[index];
        if (!row.painted[unit]) this.#paint(row, shown, side, unit, ratio);
        const [fromX, fromY] = this.#placeOf(unit, ratio);
        context.drawImage(row.canvas, fromX, fromY, wide * ratio, tall * ratio, x, GAP + index * (tall + GAP), wide, tall);
      });
      if (unit === main.unit) this.#frame(context, x, wide, sides.length, colours);
    }
  }

  // If the small frames scroll, mark the visible part of the clip on the bar below them.
  #showPart(left, whole) {
    const share = (x) => `${100 * Math.min(1, x / whole)}%`;
    const { style } = this.place.parentElement;
    style.setProperty("--gv-from", this.#width < whole - 1 ? share(left) : "0%");
    style.setProperty("--gv-to", this.#width < whole - 1 ? share(left + this.#width) : "0%");
  }

  // Discard small frames painted from other data.
  #renew({ clip, main, sides, kind, comparable }) {
    const known = COLOURS[kind] && (kind !== "ab" || comparable) ? kind : "kept";
    const of = [clip.sheet, known, ...this.#size, window.devicePixelRatio,
      ...sides.flatMap(({ stage, heat }) => [stage, heat])];
    if (of.length === this.#of.length && of.every((value, n) => value === this.#of[n])) return;
    this.#of = of;
    const ratio = Math.min(window.devicePixelRatio || 1, SHARPEST);
    const [wide, tall] = this.#size.map((size) => size * ratio);
    const { units } = main.grid;
    this.#rows = sides.map((side, index) => {
      const canvas = new OffscreenCanvas(COLUMNS * wide, Math.ceil(units / COLUMNS) * tall);
      const colour = side.heat ? heatColour(side.heat) : COLOURS[known](side, sides[1 - index]);
      return { canvas, context: canvas.getContext("2d"), painted: new Uint8Array(units), colour };
    });
  }

  #placeOf(unit, ratio) {
    return [(unit % COLUMNS) * this.#size[0] * ratio, Math.floor(unit / COLUMNS) * this.#size[1] * ratio];
  }

  // `unit` is a unit of the main side; a side with another grid shows its own unit at the same time.
  #paint({ context, painted, colour }, { clip, main }, { grid }, unit, ratio) {
    const [wide, tall] = this.#size;
    const frame = firstFrame(main.grid, unit);
    const first = grid.unitOf[frame] * grid.perUnit;
    context.setTransform(ratio, 0, 0, ratio, ...this.#placeOf(unit, ratio));
    context.imageSmoothingQuality = "medium";
    paintFrame(context, clip.sheet, clip.value.tiles, frame, wide, tall);
    paintCells(context, areaOf(grid, wide, tall), (n) => colour(first + n), SHADE);
    painted[unit] = 1;
  }

  #frame(context, x, wide, rows, colours) {
    Object.assign(context, { strokeStyle: colours.accent, lineWidth: 2 });
    context.strokeRect(x - 1, 1, wide + 2, rows * (this.#size[1] + GAP));
  }

  // Scroll only when the unit changes: the user may have scrolled away from the current unit.
  #bringIntoSight(unit) {
    if (unit === this.#unit) return;
    this.#unit = unit;
    const { scrollLeft } = this.place;
    const from = unit * this.#slot;
    const free = this.#width - this.#slot;
    if (from < scrollLeft || from > scrollLeft + free) this.place.scrollLeft = from - free / 2;
  }
}
