// @ts-check
// Small frames on the time axis that show the tokens kept by each side, A above B; as many units as there is room for.
// Each is painted once until the view changes.

import { fateOf, firstFrame } from "./data.js";
import { heatColour, SHADES } from "./looks.js";
import { A_COLOUR, B_COLOUR, DARK, areaOf, fitCanvas, paintCells, paintFrame } from "./paint.js";

const TALL = 28; // greatest height of a small frame in pixels
const [LEAST, MOST] = [20, 96]; // smallest and largest width of a small frame in pixels
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
  #width = 0; // width of the axis in pixels
  #size = [0, 0]; // width and height of a small frame in pixels

  /** @param {import("./viewer.js").Viewer} viewer */
  constructor(viewer) {
    this.viewer = viewer;
    this.place = viewer.part(".gv-film");
    this.canvas = this.place.querySelector("canvas");
  }

  describe({ beside }) {
    this.place.title = beside ? "Temporal units, run A above run B" : "Temporal units";
  }

  measure({ clip, main, sides }) {
    this.#width = this.place.clientWidth;
    const { width, height } = clip.value.tiles;
    const { from, to } = this.viewer.axis;
    const edges = this.viewer.axis.edges(main.grid);
    const slot = ((edges.at(-1) - edges[0]) / main.grid.units / (to - from)) * this.#width;
    const wide = Math.floor(Math.min(TALL * width / height, MOST, Math.max(LEAST, slot - GAP)));
    this.#size = [wide, Math.round(Math.min(TALL, wide * height / width))];
    this.canvas.style.height = `${sides.length * (this.#size[1] + GAP) + GAP}px`;
  }

  draw(shown, colours) {
    const { main, sides } = shown;
    if (!this.#width) return;
    this.#renew(shown);
    const { axis, changes } = this.viewer;
    const [wide, tall] = this.#size;
    const ratio = Math.min(window.devicePixelRatio || 1, SHARPEST);
    const context = fitCanvas(this.canvas, this.#width, sides.length * (tall + GAP) + GAP);
    context.clearRect(0, 0, this.canvas.width, this.canvas.height);
    const edges = axis.edges(main.grid).map((second) => axis.share(second) * this.#width);
    const left = (unit) => (edges[unit] + edges[unit + 1] - wide) / 2;
    const paint = (unit) => sides.forEach((side, index) => {
      const row = this.#rows[index];
      if (!row.painted[unit]) this.#paint(row, shown, side, unit, ratio);
      const y = GAP + index * (tall + GAP);
      context.drawImage(row.canvas, ...this.#placeOf(unit, ratio), wide * ratio, tall * ratio, left(unit), y, wide, tall);
    });
    let end = -Infinity;
    for (let unit = 0; unit < main.grid.units; unit++) {
      if (edges[unit + 1] <= 0 || edges[unit] >= this.#width || left(unit) < end) continue;
      paint(unit);
      end = left(unit) + wide;
    }
    paint(main.unit);
    this.#frame(context, left(main.unit), wide, sides.length, colours);
    changes.units.forEach((count, unit) => { if (count) this.#dot(context, (edges[unit] + edges[unit + 1]) / 2); });
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

  // Mark a unit in which the last move of a setting changed the kept tokens.
  #dot(context, x) {
    Object.assign(context, { fillStyle: "#ffb07c", strokeStyle: "#000", lineWidth: 1 });
    context.beginPath();
    context.arc(x, this.canvas.clientHeight - 5, 3, 0, 2 * Math.PI);
    context.fill();
    context.stroke();
  }
}
