// @ts-check
// The views of a side: each paints the tokens of the current unit over the frame. `side` has the method, the
// stage, the score and the first token of the unit; `other` is the other side.

import { ABSENT, fateOf, homeOf } from "./data.js";
import {
  A_COLOUR, B_COLOUR, DARK, GROUP_COLOURS, MAGMA, paintBorders, paintCells, paintCrosses, paintDisc, paintHatch,
} from "./paint.js";

const EDGE = [["rgb(0 0 0 / 55%)", 3], ["#fff", 1.5]]; // outline of kept tokens, visible on any frame
const MERGED = 0.55; // darkness of merged tokens relative to dropped ones
export const SHADES = { kept: null, merged: [...DARK, MERGED], dropped: DARK }; // shade of a token by its fate

export const LOOKS = {
  // Outline connected kept tokens and dim all others; drawn even if no token is dropped.
  kept(context, box, { stage, first }, other, { strength }) {
    paintCells(context, box, (n) => SHADES[fateOf(stage, first + n)], strength);
    if (stage.merges) {
      context.globalAlpha = strength;
      paintHatch(context, box, (n) => fateOf(stage, first + n) === "merged", ".");
      context.globalAlpha = 1;
    }
    paintBorders(context, box, (n) => stage.kept[first + n], EDGE, false);
  },

  heat: paintHeat,

  // A heat map of relevance, with a cross on dropped tokens that mattered for the answer.
  relevance(context, box, side, other, shown) {
    const { stage, map, first } = side;
    paintHeat(context, box, side, other, shown);
    paintCrosses(context, box, (n) => map.mattered[first + n] && fateOf(stage, first + n) === "dropped");
  },

  // Tokens that both sides keep stay bright; tokens that only this side keeps get the side's colour and hatch.
  ab(context, box, { key, stage, first }, other, { strength }) {
    const which = (n) => stage.kept[first + n] * (other.stage.kept[first + n] ? 2 : 1);
    const own = [...(key === "a" ? A_COLOUR : B_COLOUR), 0.75];
    paintCells(context, box, (n) => [DARK, own, null][which(n)], strength);
    context.globalAlpha = strength;
    paintHatch(context, box, (n) => which(n) === 1, key === "a" ? "/" : "\\");
    context.globalAlpha = 1;
    paintBorders(context, box, which, EDGE, false);
  },

  groups(context, box, { grid, stage, first, unit }, other, { strength, focus }) {
    const home = (n) => homeOf(stage, first + n);
    const colour = groupColours(stage);
    paintCells(context, box, (n) => (home(n) < 0 ? DARK : colour(home(n))), strength * 0.8);
    context.globalAlpha = strength;
    paintHatch(context, box, (n) => home(n) >= 0 && Math.floor(home(n) / grid.perUnit) !== unit, ".");
    paintBorders(context, box, (n) => home(n) + 2, [["rgb(0 0 0 / 70%)", 1.25]]);
    for (let n = 0; n < grid.perUnit; n++) if (stage.kept[first + n]) paintDisc(context, box, n);
    context.globalAlpha = 1;
    paintGroup(context, box, { stage, first }, focus);
  },

  original() {},
};

// The heat-map colour of a token: score levels go up to 65534, those of relevance up to 255.
export const heatColour = ({ levels }) => (levels instanceof Uint16Array
  ? (token) => (levels[token] === ABSENT ? DARK : MAGMA[levels[token] >> 8])
  : (token) => MAGMA[levels[token]]);

function paintHeat(context, box, { stage, heat, first }, other, { strength }) {
  const colour = heatColour(heat);
  paintCells(context, box, (n) => colour(first + n), strength);
  paintBorders(context, box, (n) => stage.kept[first + n], EDGE);
}

// Paint the tokens of this unit that are merged into the same row as `token`.
export function paintGroup(context, box, { stage, first }, token) {
  const chosen = token >= 0 ? homeOf(stage, token) : -1;
  if (chosen < 0) return;
  const strokes = [["rgb(0 0 0 / 85%)", 5], ["#fff", 2.5]];
  paintBorders(context, box, (n) => Number(homeOf(stage, first + n) === chosen), strokes);
}

// A colour for every group of merged tokens; groups that begin next to each other get different colours.
function groupColours(stage) {
  if (!stage.turns) {
    let turn = 0;
    stage.turns = Uint8Array.from(stage.kept, (kept) => (kept ? turn++ % GROUP_COLOURS.length : 0));
  }
  return (home) => GROUP_COLOURS[stage.turns[home]];
}
