// @ts-check
// Paints one strip: a bar for every unit, lines of other runs, and a scale at the left.

import { GUTTER } from "./axis.js";

/**
 * @typedef {(number | null)[]} Values  a value of each unit; null: none
 * @typedef {{ own: Values, edges: number[], unit: number, scale: (x: number) => number, top: number,
 *   words: (x: number) => string, lines?: { values: Values, edges: number[], colour: string }[],
 *   left?: number, ghost?: Values | null, even?: number | null, lower?: number | null, empty?: boolean[] | null,
 *   ticks?: [number, string][] }} Strip  `left`: place at which the axis begins; `edges`: places at which units begin, and the last one ends;
 *   `top`: scaled value at the top of the strip; `ghost`: values before the last change; `lower`: value up to which
 *   a bar is paler
 */

// The value at the top of a strip. A bar far above all others, such as the first unit's budget, is cropped.
export function topOf(values, cropped) {
  const [most, next] = values.filter((value) => value !== null).sort((left, right) => right - left);
  return (cropped && next > 0 && most > 2 * next ? next * 1.25 : most * 1.08) || 1;
}

/** @param {Strip} strip */
export function paintStrip(context, width, height, strip, colours) {
  const { own, edges, unit, scale, top, words, lines = [], ghost, left = 0, even = null, lower = null, empty, ticks = [] } = strip;
  const up = (value) => Math.min(1, Math.max(0, scale(value)) / top) * (height - 3);
  context.clearRect(0, 0, width, height);
  paintTicks(context, width, height, ticks.map(([value, text]) => [height - up(value), text]), colours);
  context.save();
  context.beginPath();
  context.rect(left, 0, width - left, height);
  context.clip();
  context.fillStyle = colours.track;
  context.fillRect(edges[unit], 0, edges[unit + 1] - edges[unit], height);
  own.forEach((value, index) => {
    const slot = edges[index + 1] - edges[index];
    const gap = slot > 8 ? 3 : slot > 3 ? 1 : 0;
    const [x, wide] = [edges[index] + gap / 2, slot - gap];
    if (value !== null) {
      const tall = Math.max(1, up(value));
      context.fillStyle = index === unit ? colours.accent : colours.bar;
      context.fillRect(x, height - tall, wide, tall);
      if (lower !== null && value > lower) paintLower(context, x, wide, height, up(lower), colours);
      if (scale(value) > top) paintCutBar(context, edges[index], slot, height, words(value), colours, index === unit);
    }
    if (ghost && ghost[index] !== value) paintGhost(context, x, wide, height, up(ghost[index]), colours.ink);
    if (empty?.[index]) paintCross(context, edges[index] + slot / 2, height - 7, slot, colours.even);
  });
  for (const line of lines) paintSteps(context, { ...line, height, up }, colours.ground);
  context.fillStyle = colours.axis;
  context.fillRect(left, height - 1, width - left, 1);
  if (even !== null) paintEven(context, left, width, height - up(even), colours.even);
  context.restore();
}

// Draw the lines of a scale, and as many of its numbers as there is room for, from the top.
function paintTicks(context, width, height, ticks, colours) {
  Object.assign(context, { font: "10px system-ui, sans-serif", textAlign: "right", textBaseline: "middle" });
  let last = -Infinity;
  for (const [y, text] of ticks) {
    context.fillStyle = colours.axis;
    context.fillRect(GUTTER - 3, Math.round(y), width, 0.5);
    const at = Math.max(5, Math.min(height - 5, y));
    if (at - last < 10) continue;
    context.fillStyle = colours.soft;
    context.fillText(text, GUTTER - 5, at);
    last = at;
  }
}

// Draw the part of a budget that is spread evenly over units: paler, below a gap.
function paintLower(context, x, wide, height, tall, colours) {
  context.fillStyle = colours.ground;
  context.globalAlpha = 0.55;
  context.fillRect(x, height - tall, wide, tall);
  context.globalAlpha = 1;
  context.fillRect(x, height - tall - 0.5, wide, 1);
}

// Outline a bar as it was before the last change.
function paintGhost(context, x, wide, height, tall, colour) {
  Object.assign(context, { strokeStyle: colour, lineWidth: 1 });
  context.setLineDash([2, 2]);
  context.strokeRect(Math.round(x) + 0.5, Math.round(height - tall) + 0.5, Math.max(1, wide - 1), tall);
  context.setLineDash([]);
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
    fillStyle: onShow ? colours.ground : colours.ink, font: "11px system-ui, sans-serif",
    textAlign: "left", textBaseline: "bottom",
  });
  context.fillText(text, x + 5, height - 3);
}

function paintSteps(context, { values, edges, colour, height, up }, ground) {
  for (const [style, thick] of [[ground, 4], [colour, 2]]) {
    Object.assign(context, { strokeStyle: style, lineWidth: thick });
    context.beginPath();
    values.forEach((value, index) => {
      if (value === null) return;
      const y = Math.max(1.5, height - up(value));
      context.moveTo(edges[index] + 1, y);
      context.lineTo(edges[index + 1] - 1, y);
    });
    context.stroke();
  }
}

function paintEven(context, left, width, height, colour) {
  const y = Math.round(height) + 0.5;
  context.setLineDash([4, 3]);
  Object.assign(context, { strokeStyle: colour, lineWidth: 1 });
  context.beginPath();
  context.moveTo(left, y);
  context.lineTo(width, y);
  context.stroke();
  context.setLineDash([]);
}
