// @ts-check
// The strips of the timeline: one bar per unit for the main side (B, or the only side), a line for A if it
// differs, and a mark for the current unit.

import { keepsAll } from "./data.js";
import { make, short } from "./dom.js";
import { fitCanvas } from "./paint.js";
import { isOfRelevance, percent, useLine } from "./relevance.js";
import { emptyUnits, splitWords } from "./words.js";

const LOG = (value) => Math.log10(1 + Math.max(0, value));
const whole = (value) => value.toLocaleString("en", { maximumFractionDigits: 0 });

/**
 * `of` returns the values of a side by unit, or null; `scale` maps a value to a height before fitting the strip.
 * @type {Record<string, { of: (side: any, clip: any) => number[] | null, words: (x: number) => string,
 *   scale: (x: number) => number, hint: (side: any) => string, tip?: (side: any) => string, cropped?: boolean }>}
 */
const STRIPS = {
  budget: {
    of: ({ stage }) => stage.budgets,
    scale: (value) => value,
    words: whole,
    hint: () => "- - even share",
    tip: ({ stage, grid }) => `Even share: ${(stage.total / grid.units).toFixed(1)} tokens in every unit`,
    cropped: true,
  },
  relevance: { // the view "What mattered" shows this strip in place of the rank: an added strip would shrink the frames
    of: (side) => (isOfRelevance(side) ? side.map.units : null),
    scale: (value) => value,
    words: percent,
    hint: ({ map }) => `for ${map.word ? `“${map.word}”` : "the answer"}`,
  },
  novelty: {
    of: ({ method, shared }, clip) => method.novelty ?? (shared ? clip.value.novelty : null),
    scale: LOG,
    words: short,
    hint: ({ method }) => (method.novelty ? "log scale" : "log scale, by GleanVID"),
  },
  rank: {
    of: (side) => (isOfRelevance(side) ? null : side.stage.span ?? side.stage.rank),
    scale: (value) => value,
    words: (value) => value.toFixed(value < 100 ? 1 : 0),
    hint: ({ stage }) => (stage.span ? "of all kept so far" : "of the unit"),
  },
};

// The value at the top of a strip. A bar far above all others, such as the first unit's budget, is cropped.
export function topOf(values, cropped) {
  const [most, next] = [...values].sort((left, right) => right - left);
  return (cropped && next > 0 && most > 2 * next ? next * 1.25 : most * 1.08) || 1;
}

export function paintStrip(context, width, height, { own, line, even, lower, empty, top, unit, scale, words }, colours) {
  context.clearRect(0, 0, width, height);
  const slot = width / own.length;
  const gap = slot > 8 ? 3 : slot > 3 ? 1 : 0;
  const up = (value) => Math.min(1, scale(value) / top) * (height - 3);
  context.fillStyle = colours.track;
  context.fillRect(unit * slot, 0, slot, height);
  own.forEach((value, index) => {
    const tall = Math.max(1, up(value));
    context.fillStyle = index === unit ? colours.accent : colours.bar;
    context.fillRect(index * slot + gap / 2, height - tall, slot - gap, tall);
    if (lower !== null && value > lower) paintLower(context, index * slot + gap / 2, slot - gap, height, up(lower), colours);
    if (empty?.[index]) paintCross(context, (index + 0.5) * slot, height - 7, slot, colours.even);
    if (scale(value) > top) paintCutBar(context, index * slot, slot, height, words(value), colours, index === unit);
  });
  if (line) paintSteps(context, line.map((value) => height - up(value)), width, colours);
  context.fillStyle = colours.axis;
  context.fillRect(0, height - 1, width, 1);
  if (even !== null) paintEven(context, width, height - up(even), colours.even);
}

// Draw the part of a budget that is spread evenly over units: paler, below a gap.
function paintLower(context, x, wide, height, tall, colours) {
  context.fillStyle = colours.ground;
  context.globalAlpha = 0.55;
  context.fillRect(x, height - tall, wide, tall);
  context.globalAlpha = 1;
  context.fillRect(x, height - tall - 0.5, wide, 1);
}

// Mark a unit that keeps nothing, in place of a bar.
function paintCross(context, x, y, slot, colour) {
  const arm = Math.max(0.5, Math.min(3.5, slot / 2 - 1));
  Object.assign(context, { strokeStyle: colour, lineWidth: 1.5 });
  context.beginPath();
  for (const way of [-1, 1]) {
    context.moveTo(x - arm, y - way * arm);
    context.lineTo(x + arm, y + way * arm);
  }
  context.stroke();
}

// Draw a bar taller than its strip with a gap, and its number if there is room.
function paintCutBar(context, x, wide, height, text, colours, onShow) {
  context.fillStyle = colours.ground;
  context.fillRect(x, 5, wide, 2);
  if (wide < 24) return;
  Object.assign(context, {
    fillStyle: onShow ? colours.ground : colours.ink, font: "11px system-ui, sans-serif", textBaseline: "bottom",
  });
  context.fillText(text, x + 5, height - 3);
}

function paintSteps(context, heights, width, colours) {
  const slot = width / heights.length;
  for (const [style, thick] of [[colours.ground, 4], [colours.a, 2]]) {
    Object.assign(context, { strokeStyle: style, lineWidth: thick });
    context.beginPath();
    heights.forEach((y, index) => {
      context.moveTo(index * slot + 1, Math.max(1.5, y));
      context.lineTo((index + 1) * slot - 1, Math.max(1.5, y));
    });
    context.stroke();
  }
}

function paintEven(context, width, height, colour) {
  const y = Math.round(height) + 0.5;
  context.setLineDash([4, 3]);
  Object.assign(context, { strokeStyle: colour, lineWidth: 1 });
  context.beginPath();
  context.moveTo(0, y);
  context.lineTo(width, y);
  context.stroke();
  context.setLineDash([]);
}

const sameCurve = (one, other) =>
  one.length === other.length && one.every((x, n) => Math.abs(x - other[n]) <= 1e-3 * Math.abs(x));

// Describe the bar at this fraction of a strip's width, with A's value if A has one.
function barWords({ drawn }, fraction) {
  if (!drawn) return "";
  const { own, other, words } = drawn;
  const unit = Math.min(own.length - 1, Math.max(0, Math.floor(fraction * own.length)));
  const compared = other?.length === own.length ? `, A ${words(other[unit])}` : "";
  return `Unit ${unit + 1}: ${words(own[unit])}${compared}`;
}

// The strips of one viewer: position, size and content.
export class Strips {
  /** @param {HTMLElement} root */
  constructor(root) {
    this.parts = /** @type {HTMLElement} */ (root.querySelector(".gv-parts"));
    this.use = useLine();
    root.querySelector(".gv-moment").after(this.use);
    this.items = Object.entries(STRIPS).map(([name, kind]) => {
      const row = /** @type {HTMLElement} */ (root.querySelector(`.gv-strip[data-strip=${name}]`));
      const [canvas, note] = [row.querySelector("canvas"), /** @type {HTMLElement} */ (row.querySelector(".gv-note"))];
      const strip = { name, kind, row, canvas, note, output: row.querySelector("output"), size: [0, 0], drawn: null };
      canvas.addEventListener("pointermove", ({ offsetX }) => { canvas.title = barWords(strip, offsetX / canvas.clientWidth); });
      return strip;
    });
  }

  measure() {
    for (const strip of this.items) strip.size = [strip.canvas.clientWidth, strip.canvas.clientHeight];
  }

  // Update the values of the strips and the labels next to them.
  describe({ clip, main, beside }) {
    // Write this text now: its height counts when the frames are measured, which is before the strips are drawn.
    this.#sayParts(main);
    this.use.hidden = !main.map;
    for (const strip of this.items) {
      const { of, hint, cropped = false, scale, words } = strip.kind;
      const own = of(main, clip);
      strip.row.hidden = !own;
      if (!own) continue;
      const other = beside && of(beside, clip);
      const line = other && !keepsAll(beside) && !sameCurve(own, other) ? other : null;
      const even = strip.name === "budget" ? main.stage.total / main.grid.units : null;
      const tops = [own, line].filter(Boolean).map((values) => topOf(values.map(scale), cropped));
      const top = Math.max(...tops, (even ?? 0) * 1.3);
      const isBudget = strip.name === "budget";
      const lower = isBudget && main.split ? main.split.alpha * even : null;
      const empty = isBudget ? emptyUnits(main) : null;
      strip.drawn = { own, other, line, even, lower, empty, top, scale, words };
      const marks = isBudget && empty.includes(true) ? " · × none" : "";
      strip.note.textContent = hint(main) + marks + (line ? " · ▬ A" : "");
      strip.note.title = strip.kind.tip?.(main) ?? "";
    }
  }

  #sayParts(main) {
    const words = splitWords(main);
    this.parts.hidden = !words;
    if (this.parts.lastElementChild.textContent !== words) this.parts.lastElementChild.textContent = words;
  }

  draw({ main, beside }, colours) {
    this.#sayParts(main);
    for (const { row, canvas, output, size: [width, height], drawn } of this.items) {
      if (row.hidden || !width) continue;
      paintStrip(fitCanvas(canvas, width, height), width, height, { ...drawn, unit: main.unit }, colours);
      const { own, other, words } = drawn;
      const [value, compared] = [words(own[main.unit]), other ? words(other[beside.unit]) : ""];
      const small = compared && compared !== value ? `A ${compared}` : "";
      if (output.dataset.said === `${value} ${small}`) continue;
      output.dataset.said = `${value} ${small}`;
      output.replaceChildren(value, ...(small ? [make("small", "", small)] : []));
    }
  }
}
