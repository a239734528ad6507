// @ts-check
// The six views: each paints the tokens of the unit on show over the frame. `shown` has the clip,
// the stages of A and B, the score, the overlay's strength and the first token of the unit.

import { ABSENT, fateOf, homeOf } from "./data.js";
import {
  A_COLOUR, B_COLOUR, DARK, GROUP_COLOURS, MAGMA, paintBorders, paintCells, paintDisc, paintHatch,
} from "./paint.js";

export const LOOKS = {
  kept(context, grid, { a, strength, first }) {
    paintCells(context, grid, (n) => (a.kept[first + n] ? null : DARK), strength);
    context.globalAlpha = strength;
    if (a.merges) paintHatch(context, grid, (n) => fateOf(a, first + n) === "merged", ".");
    paintBorders(context, grid, (n) => a.kept[first + n], [["rgb(255 255 255 / 60%)", 1]]);
  },

  heat(context, grid, { a, score, strength, first }) {
    const level = (n) => score.levels[first + n];
    paintCells(context, grid, (n) => (level(n) === ABSENT ? DARK : MAGMA[level(n) >> 8]), strength);
    context.globalAlpha = strength;
    paintBorders(context, grid, (n) => a.kept[first + n], [["rgb(0 0 0 / 65%)", 3], ["#fff", 1.25]]);
  },

  outline(context, grid, { a, strength, first }, colours) {
    context.globalAlpha = strength;
    paintBorders(context, grid, (n) => a.kept[first + n], [["#fff", 3.5], [colours.kept, 2]]);
  },

  ab(context, grid, { a, b, strength, first }) {
    const which = (n) => a.kept[first + n] + 2 * b.kept[first + n]; // 0 neither, 1 A, 2 B, 3 both
    const tints = [DARK, [...A_COLOUR, 0.85], [...B_COLOUR, 0.85], null];
    paintCells(context, grid, (n) => tints[which(n)], strength);
    context.globalAlpha = strength;
    paintHatch(context, grid, (n) => which(n) === 1, "/");
    paintHatch(context, grid, (n) => which(n) === 2, "\\");
    paintBorders(context, grid, which, [["rgb(255 255 255 / 55%)", 1]]);
  },

  groups(context, grid, { clip, a, strength, first, focus }) {
    const home = (n) => homeOf(a, first + n);
    const unit = Math.floor(first / clip.perUnit);
    const colour = groupColours(a);
    paintCells(context, grid, (n) => (home(n) < 0 ? DARK : colour(home(n))), strength * 0.8);
    context.globalAlpha = strength;
    paintHatch(context, grid, (n) => home(n) >= 0 && Math.floor(home(n) / clip.perUnit) !== unit, ".");
    paintBorders(context, grid, (n) => home(n) + 2, [["rgb(0 0 0 / 70%)", 1.25]]);
    for (let n = 0; n < clip.perUnit; n++) if (a.kept[first + n]) paintDisc(context, grid, n);
    const chosen = focus >= 0 ? homeOf(a, focus) : -1;
    if (chosen < 0) return;
    context.globalAlpha = 1;
    const strokes = [["rgb(0 0 0 / 85%)", 5], ["#fff", 2.5]];
    paintBorders(context, grid, (n) => Number(home(n) === chosen), strokes);
  },

  original() {},
};

// A colour for every group: groups that begin next to each other get different ones.
function groupColours(stage) {
  if (!stage.turns) {
    let turn = 0;
    stage.turns = Uint8Array.from(stage.kept, (kept) => (kept ? turn++ % GROUP_COLOURS.length : 0));
  }
  return (home) => GROUP_COLOURS[stage.turns[home]];
}
