// @ts-check
// The strips of the timeline, on one time axis: bars for the main side (B, or the only side), a line for A, and one
// for every run that the user adds. The pointer reads all of them at one time.

import { GUTTER } from "./axis.js";
import { paintStrip, topOf } from "./bars.js";
import { keepsAll, sameGrid, stageAt } from "./data.js";
import { button, make, missing, short, table } from "./dom.js";
import { fitCanvas } from "./paint.js";
import { isOfRelevance, percent, useLine } from "./relevance.js";
import { emptyUnits, splitWords } from "./words.js";

const SMALLEST = 1e-6; // energies up to this fraction are rounding errors, as ROUNDING of gleanvid.metrics
const COLOURS = ["#d55e00", "#009e73", "#cc79a7", "#b58900", "#56b4e9", "#8b5cf6"]; // of the runs that the user adds
const whole = (value) => value.toLocaleString("en", { maximumFractionDigits: 0 });
const decades = (from, to) => Array.from({ length: Math.max(0, to - from + 1) }, (_, n) => 10 ** (to - n));
const share = (value) => (value < SMALLEST ? "0 %" : `${Number((100 * value).toPrecision(2))} %`);

// A scale from 0, with one round number.
const linear = (words) => (values) => {
  const most = Math.max(...values, 1e-9);
  const decade = 10 ** Math.floor(Math.log10(most));
  const round = [5, 2, 1].map((step) => step * decade).find((value) => value <= most);
  return { scale: (value) => value, ticks: [[round, words(round)]] };
};

/**
 * `of` returns the values of a side by unit, or null; `scaling` returns the scale for all values of a strip.
 * @type {Record<string, { of: (side: any, clip: any) => (number | null)[] | null, words: (x: number) => string,
 *   scaling: (values: number[]) => { scale: (x: number) => number, ticks: [number, string][] },
 *   hint: (side: any) => string, tip?: (side: any) => string, cropped?: boolean }>}
 */
const STRIPS = {
  budget: {
    of: ({ stage }) => stage.budgets,
    scaling: () => ({ scale: (value) => value, ticks: [] }), // the even share, B/T, is its only number
    words: whole,
    hint: () => "- - B/T",
    tip: ({ stage, grid }) => `B/T, an even share: ${(stage.total / grid.units).toFixed(1)} tokens in every unit`,
    cropped: true,
  },
  relevance: { // the view "What mattered" shows this strip in place of the rank: an added strip would shrink the frames
    of: (side) => (isOfRelevance(side) ? side.map.units : null),
    scaling: linear(percent),
    words: percent,
    hint: ({ map }) => `for ${map.word ? `“${map.word}”` : "the answer"}`,
  },
  novelty: {
    of: ({ method, shared }, clip) => method.novelty ?? (shared ? clip.value.novelty : null),
    scaling: (values) => ({
      scale: (value) => Math.log10(1 + Math.max(0, value)),
      ticks: decades(0, Math.floor(Math.log10(Math.max(1, ...values)))).map((value) => [value, whole(value)]),
    }),
    words: short,
    hint: ({ method }) => (method.novelty ? "" : "by GleanVID"),
  },
  rank: {
    of: (side) => (isOfRelevance(side) ? null : side.stage.span ?? side.stage.rank),
    scaling: linear(String),
    words: (value) => value.toFixed(value < 100 ? 1 : 0),
    hint: ({ stage }) => (stage.span ? "so far" : "of the unit"),
  },
  energy: {
    of: ({ stage }) => stage.energy,
    scaling: (values) => {
      const low = Math.floor(Math.log10(Math.min(0.1, ...values.filter((value) => value > SMALLEST))));
      return {
        scale: (value) => Math.log10(Math.max(value, SMALLEST)) - low,
        ticks: decades(low, 0).map((value) => [value, share(value).replace(" ", "")]),
      };
    },
    words: share,
    hint: () => "",
  },
};

const sameCurve = (one, other) =>
  one.length === other.length && one.every((x, n) => Math.abs((x ?? 0) - (other[n] ?? 0)) <= 1e-3 * Math.abs(x ?? 0));

const LOWER = "A has a lower rank: its repeats outweigh what is rare.";

export class Strips {
  /** @type {Map<string, string>} */
  added = new Map(); // colour of each added run, by its label
  #hovered = null; // second under the pointer

  /** @param {import("./viewer.js").Viewer} viewer */
  constructor(viewer) {
    this.viewer = viewer;
    const { root } = viewer;
    this.place = viewer.part(".gv-time");
    this.parts = viewer.part(".gv-parts");
    this.hair = viewer.part(".gv-hair");
    this.card = viewer.part(".gv-read");
    this.chips = viewer.part(".gv-runs");
    this.use = useLine();
    viewer.part(".gv-moment").after(this.use);
    this.items = Object.entries(STRIPS).map(([name, kind]) => {
      const row = /** @type {HTMLElement} */ (root.querySelector(`.gv-strip[data-strip=${name}]`));
      const [canvas, note] = [row.querySelector("canvas"), /** @type {HTMLElement} */ (row.querySelector(".gv-note"))];
      const title = row.querySelector(".gv-label span").textContent;
      return { name, kind, title, row, canvas, note, output: row.querySelector("output"), size: [0, 0], drawn: null };
    });
  }

  measure() {
    for (const strip of this.items) strip.size = [strip.canvas.clientWidth, strip.canvas.clientHeight];
  }

  // The second at this place of the page on the time axis.
  secondAt(x) {
    const { left, width } = this.items[0].canvas.getBoundingClientRect();
    return this.viewer.axis.second((x - left - GUTTER) / (width - GUTTER));
  }

  // --- values and labels -------------------------------------------------------------------------

  describe(shown) {
    const { clip, main, beside } = shown;
    // Write this text now: its height counts when the frames are measured, which is before the strips are drawn.
    this.#sayParts(main);
    this.use.hidden = !main.map;
    const others = [...(beside ? [{ ...beside, colour: "" }] : []), ...this.#extras(shown)];
    const drawn = [main, ...others].map(({ method }) => method.id);
    Object.assign(window["gleanvid"] ?? {}, { drawnRuns: drawn }); // for exports
    for (const strip of this.items) {
      const { of, hint, cropped = false, scaling, words } = strip.kind;
      const own = of(main, clip);
      strip.row.hidden = !own;
      if (!own) continue;
      const isBudget = strip.name === "budget";
      const lines = others.map((side) => ({ values: of(side, clip), ...side }))
        .filter(({ values, ...side }) => values && !(isBudget && keepsAll(side)) && !sameCurve(own, values));
      const even = isBudget ? main.stage.total / main.grid.units : null;
      const every = [own, ...lines.map(({ values }) => values)];
      const { scale, ticks } = scaling(every.flat().filter((value) => value !== null));
      const tops = every.map((values) => topOf(values.map((value) => (value === null ? null : scale(value))), cropped));
      const top = Math.max(...tops, (even ?? 0) * 1.3);
      const empty = isBudget ? emptyUnits(main) : null;
      strip.drawn = {
        own, lines, even, empty, top, scale, words, left: GUTTER,
        ticks: isBudget ? [[even, short(even)]] : ticks,
        lower: isBudget && main.split ? main.split.alpha * even : null,
        ghost: isBudget ? this.viewer.changes.budgets : null,
      };
      strip.note.textContent = hint(main) + (isBudget && empty.includes(true) ? " · × none" : "");
      strip.note.title = strip.kind.tip?.(main) ?? "";
    }
    this.#offer(shown);
  }

  // The added runs, in the form of sides.
  #extras({ clip, layer, main, beside }) {
    return clip.methods
      .filter((method) => this.added.has(method.label) && ![main, beside].some((side) => side?.method.label === method.label))
      .filter(({ label }, place, all) => all.findIndex((other) => other.label === label) === place)
      .map((method) => ({
        method, grid: method.grid, stage: stageAt(method, layer), name: method.label, colour: this.added.get(method.label),
        shared: sameGrid(method.grid, clip.methods[0].grid), heat: main.heat, map: main.map,
      }));
  }

  // The legend of A and B, and a chip for every other run.
  #offer({ clip, main, beside }) {
    const shown = [main, beside].map((side) => side?.method.label);
    const labels = [...new Set(clip.methods.map(({ label }) => label))].filter((label) => !shown.includes(label));
    const sides = beside ? [make("span", "gv-of-b", "B"), make("span", "gv-of-a", "A")] : [];
    this.chips.replaceChildren(...sides, ...labels.map((label) => this.#chip(label)));
    this.chips.parentElement.hidden = !sides.length && !labels.length;
  }

  #chip(label) {
    const colour = this.added.get(label);
    const chip = button(label, () => {
      if (!this.added.delete(label)) this.added.set(label, COLOURS.find((one) => ![...this.added.values()].includes(one)) ?? COLOURS[0]);
      this.describe(this.viewer.shown());
      this.viewer.redraw();
      /** @type {any} */ ([...this.chips.children].find((other) => other.textContent === label))?.focus();
    }, "gv-run");
    chip.ariaPressed = String(Boolean(colour));
    if (colour) chip.style.setProperty("--gv-run", colour);
    return chip;
  }

  #sayParts(main) {
    const words = splitWords(main);
    this.parts.hidden = !words;
    if (this.parts.lastElementChild.textContent !== words) this.parts.lastElementChild.textContent = words;
  }

  // --- drawing -----------------------------------------------------------------------------------

  draw({ clip, main, beside }, colours) {
    this.#sayParts(main);
    const { axis } = this.viewer;
    for (const { row, kind, canvas, output, size: [width, height], drawn } of this.items) {
      if (row.hidden || !width) continue;
      const placed = (grid) => axis.edges(grid).map((second) => GUTTER + axis.share(second) * (width - GUTTER));
      const lines = drawn.lines.map(({ values, grid, colour }) => ({ values, edges: placed(grid), colour: colour || colours.a }));
      const strip = { ...drawn, lines, edges: placed(main.grid), unit: main.unit };
      paintStrip(fitCanvas(canvas, width, height), width, height, strip, colours);
      this.#sayValues(output, drawn, main.unit, beside && kind.of(beside, clip)?.[beside.unit]);
    }
    this.hair.hidden = this.#hovered === null;
    if (this.#hovered !== null) this.hair.style.left = `${this.#x(this.#hovered)}px`;
  }

  #sayValues(output, { words, own }, unit, other) {
    const told = (value) => (missing(value) ? "–" : words(value));
    const [value, compared] = [told(own[unit]), missing(other) ? "" : words(other)];
    const small = compared && compared !== value ? `A ${compared}` : "";
    if (output.dataset.said === `${value} ${small}`) return;
    output.dataset.said = `${value} ${small}`;
    output.replaceChildren(value, ...(small ? [make("small", "", small)] : []));
  }

  // --- the pointer -------------------------------------------------------------------------------

  #x(second) {
    const { offsetLeft, clientWidth } = this.items[0].canvas;
    return offsetLeft + GUTTER + this.viewer.axis.share(second) * (clientWidth - GUTTER);
  }

  // Read all strips at a second; null: the pointer left.
  read(second) {
    this.#hovered = second;
    const { viewer } = this;
    this.card.hidden = second === null || !viewer.clip;
    if (!this.card.hidden) this.#fillCard(viewer.shown(), second);
    viewer.redraw();
  }

  #fillCard(shown, second) {
    const { clip, main, sides } = shown;
    const { axis } = this.viewer;
    const strips = this.items.filter(({ row }) => !row.hidden);
    const heads = [make("td"), ...strips.map(({ title }) => make("th", "", title))];
    const rows = [...sides, ...this.#extras(shown)].map((side) => make("tr", "", "", make("th", "", side.name), ...strips.map(({ kind }) => {
      const value = kind.of(side, clip)?.[axis.unitAt(side.grid, second)];
      return make("td", "", missing(value) ? "–" : kind.words(value));
    })));
    const isLower = main.stage.span && sides.length > 1 && keepsAll(sides[0]) && sides[0].stage.span?.[main.unit] < main.stage.span[main.unit];
    this.card.replaceChildren(
      make("div", "", `${second.toFixed(2)} s, unit ${axis.unitAt(main.grid, second) + 1} of ${main.grid.units}`),
      table("", "", heads, rows), ...(isLower ? [make("div", "gv-faint", LOWER)] : []));
    const x = this.#x(second);
    const flip = x + this.card.offsetWidth + 24 > this.place.clientWidth;
    this.card.style.left = `${Math.max(0, flip ? x - this.card.offsetWidth - 14 : x + 14)}px`;
    this.card.style.top = `${this.items[0].row.offsetTop - this.card.offsetHeight - 6}px`;
  }
}
