// @ts-check
// The strips under the frame: one bar a unit for A, a line for B, marks for scene cuts and the unit
// on show.

import { firstFrame } from "./data.js";
import { fitCanvas } from "./paint.js";

const STRIPS = {
  budget: {
    of: (clip, method, stage) => stage.budgets,
    colour: "kept",
    words: (value) => value.toFixed(0),
  },
  novelty: {
    of: (clip, method) => method.novelty ?? clip.value.novelty,
    colour: "novelty",
    words: (value) => Number(value.toPrecision(3)).toLocaleString("en"),
    cropped: true,
  },
  rank: {
    of: (clip, method, stage) => stage.rank,
    colour: "rank",
    words: (value) => value.toFixed(1),
  },
};

// The top of a strip. Where one bar dwarfs the rest, as novelty in the first unit does, it is cut.
function topOf(values, cropped) {
  const [most, next] = [...values].sort((left, right) => right - left);
  return (cropped && next > 0 && most > 3 * next ? next * 1.4 : most * 1.06) || 1;
}

const sameCurve = (one, other) => one.every((x, n) => Math.abs(x - other[n]) <= 1e-3 * Math.abs(x));

function paintStrip(context, width, height, strip, colours) {
  const { a, b, even, unit, cuts, cropped } = strip;
  context.clearRect(0, 0, width, height);
  const top = Math.max(topOf(a, cropped), b ? topOf(b, cropped) : 0, (even ?? 0) * 1.06);
  const slot = width / a.length;
  const gap = slot > 6 ? 2 : slot > 3 ? 1 : 0;
  const up = (value) => Math.min(1, value / top) * (height - 1);
  context.fillStyle = colours.track;
  context.fillRect(unit * slot, 0, slot, height);
  a.forEach((value, index) => {
    const tall = Math.max(1, up(value));
    context.fillStyle = index === unit ? colours.cursor : colours[strip.colour];
    context.fillRect(index * slot + gap / 2, height - tall, slot - gap, tall);
    if (value > top) paintBreak(context, index * slot + gap / 2, slot - gap, colours.track);
  });
  if (b) paintSteps(context, b.map((value) => height - up(value)), slot, colours);
  context.fillStyle = colours.axis;
  context.fillRect(0, height - 1, width, 1);
  for (const cut of cuts) paintCut(context, cut * slot, height, colours.even);
  if (even !== undefined) paintEven(context, width, height - up(even), colours.even);
}

// Two slanted lines through a bar that is taller than its strip.
function paintBreak(context, x, wide, colour) {
  Object.assign(context, { strokeStyle: colour, lineWidth: 2 });
  context.beginPath();
  for (const y of [9, 14]) { context.moveTo(x - 1, y + 3); context.lineTo(x + wide + 1, y - 3); }
  context.stroke();
}

function paintSteps(context, heights, slot, colours) {
  for (const [style, thick] of [[colours.ground, 4.5], [colours.b, 2.25]]) {
    Object.assign(context, { strokeStyle: style, lineWidth: thick });
    context.beginPath();
    heights.forEach((y, index) => {
      context.moveTo(index * slot + 1, Math.max(1.5, y));
      context.lineTo((index + 1) * slot - 1, Math.max(1.5, y));
    });
    context.stroke();
  }
}

function paintCut(context, x, height, colour) {
  Object.assign(context, { strokeStyle: colour, fillStyle: colour, lineWidth: 1 });
  context.beginPath();
  context.setLineDash([1, 3]);
  context.moveTo(x, 0);
  context.lineTo(x, height);
  context.stroke();
  context.setLineDash([]);
  context.beginPath();
  context.moveTo(x - 4, 0);
  context.lineTo(x + 4, 0);
  context.lineTo(x, 6);
  context.fill();
}

function paintEven(context, width, height, colour) {
  const y = Math.round(height) + 0.5;
  context.setLineDash([5, 4]);
  Object.assign(context, { strokeStyle: colour, lineWidth: 1.25 });
  context.beginPath();
  context.moveTo(0, y);
  context.lineTo(width, y);
  context.stroke();
  context.setLineDash([]);
}

// Scene cuts in units: a cut in the middle of a unit stands in the middle of its slot.
function cutsInUnits(clip) {
  return clip.value.cuts.map((frame) => {
    const unit = clip.value.units[frame];
    const first = firstFrame(clip, unit);
    const size = clip.value.units.lastIndexOf(unit) - first + 1;
    return unit + (frame - first) / size;
  });
}

// The strips of one viewer: where they stand, how large they are, and what they show.
export class Strips {
  /** @param {HTMLElement} root */
  constructor(root) {
    this.items = Object.entries(STRIPS).map(([name, kind]) => {
      const figure = /** @type {HTMLElement} */ (root.querySelector(`.gv-strip[data-strip=${name}]`));
      const [canvas, note] = [figure.querySelector("canvas"), figure.querySelector(".gv-note")];
      const output = figure.querySelector("output");
      return { name, kind, figure, canvas, note, output, size: [0, 0], drawn: null };
    });
  }

  measure() {
    for (const strip of this.items) strip.size = [strip.canvas.clientWidth, strip.canvas.clientHeight];
  }

  // What the strips show of A and B, and the words beside their names.
  describe({ clip, methodA, methodB, a, b }) {
    const cuts = cutsInUnits(clip);
    for (const strip of this.items) {
      const { of, cropped = false, colour } = strip.kind;
      const own = of(clip, methodA, a);
      strip.figure.hidden = !own;
      if (!own) continue;
      const other = methodB && of(clip, methodB, b);
      const even = strip.name === "budget" ? a.total / clip.units : undefined;
      const second = other && !(cropped && sameCurve(own, other)) ? other : null;
      strip.drawn = { a: own, b: second, even, cuts, cropped, colour };
      const notes = [];
      if (even !== undefined) notes.push(`┄ uniform B/T = ${even.toFixed(1)}`);
      if (strip.name === "novelty" && !methodA.novelty) notes.push("of the clip, as GleanVID measures it");
      if (cropped && Math.max(...own) > topOf(own, true)) notes.push("tallest bar cut");
      if (second) notes.push("▬ B");
      if (strip.name === "budget" && cuts.length) notes.push("▾ scene cut");
      strip.note.textContent = notes.join(" · ");
    }
  }

  draw(unit, colours) {
    for (const { kind, figure, canvas, output, size: [width, height], drawn } of this.items) {
      if (figure.hidden || !width) continue;
      paintStrip(fitCanvas(canvas, width, height), width, height, { ...drawn, unit }, colours);
      const { a, b } = drawn;
      output.textContent = b ? `A ${kind.words(a[unit])} · B ${kind.words(b[unit])}` : kind.words(a[unit]);
    }
  }
}
