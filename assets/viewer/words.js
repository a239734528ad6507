// @ts-check
// Texts of the viewer about the current frame: the legend, the caption, and one sentence about the run. Text from
// outside is only ever set as textContent.

import { ABSENT, apartByUnit, fatesIn, firstFrame, keepsAll, overlap } from "./data.js";
import { make, plural, short, timeText } from "./dom.js";
import { droppedIn, isOfRelevance, percent } from "./relevance.js";

const atLayer = (layer) => (layer ? ` to layer ${layer} of the language model` : "");

// Describe the current view in one or two sentences.
const WHAT = {
  kept: ({ main: { method, stage }, layer }) =>
    `The frame as ${method.label} leaves it${atLayer(layer)}: bright tokens are `
    + (stage.merges ? "kept, dotted ones are merged into a kept one, dark ones are dropped." : "kept, dark ones are dropped."),
  heat: ({ sides }) => sides.filter(({ score }) => score).map(({ method, score }) =>
    `How ${method.label} rates every token by its ${score.label}.`).join(" ") + " White lines surround kept tokens.",
  relevance: ({ clip: { relevance } }) => (relevance
    ? `Which tokens the answer “${relevance.answer}” rests on. White lines surround kept tokens; a cross marks those that `
      + `mattered and were dropped.${relevance.maps.length > 1 ? " Point at a word of that answer for its own map." : ""}`
    : "Which tokens mattered is not measured for this question yet."),
  ab: ({ sides: [a, b] }) =>
    `Where A, ${a.method.label}, and B, ${b.method.label}, keep the same tokens and where they differ.`,
  groups: ({ main: { method } }) =>
    `Which tokens ${method.label} merges: each colour is a group of tokens merged into one; a dot marks `
    + "the position of the merged token. Point at a group to see all of its tokens.",
  original: () => "The frame as it was sampled, without any marks.",
};

const LEGENDS = {
  kept: ({ sides }) => (sides.some(({ stage }) => stage.merges) ? [["dots", "merged into a kept token"]] : []),
  heat: ({ sides }) => {
    const scored = sides.filter(({ score }) => score);
    const gone = scored.some(({ score }) => score.levels.includes(ABSENT));
    // Leave out the score's name if all sides show the same score and a menu of scores shows the name.
    const named = scored.every(({ score, stage }) => stage.scores.length > 1 && score.label === scored[0].score.label);
    const range = ({ name, score }) =>
      [name, `${short(score.low)} – ${short(score.high)}`, named ? "" : score.label].filter(Boolean).join(" ");
    return [["ramp", scored.map(range).join(" · ")], ...(gone ? [["dark", "dropped before this layer"]] : [])];
  },
  relevance: ({ map }) => (map ? [
    ["ramp", `0 – ${percent(map.high)}`], ["cross", "dropped"], ["edge", "kept"],
  ] : [["", "Which tokens mattered is not measured for this question yet, so the frames have no marks."]]),
  ab: () => [["bright", "both"], ["a", "only A"], ["b", "only B"], ["dark", "neither"]],
  groups: ({ main: { stage } }) => [
    ["groups", "one colour and border: one merged token"], ["dot", "position of the merged token"],
    ...(stage.merges ? [["dots", "merged into another unit"]] : []), ["dark", "dropped"],
  ],
  original: () => [],
};

export const whatIsShown = (shown) => WHAT[shown.kind](shown);

// `missing`: reasons why some views are empty.
export function legend(shown, missing) {
  const reasons = missing.map((reason) => ["", reason]);
  return [...LEGENDS[shown.kind](shown), ...outlines(shown), ...reasons].map(([swatch, text]) => {
    const item = make("li", "", text);
    if (swatch) item.prepend(make("i", `gv-swatch gv-swatch-${swatch}`));
    return item;
  });
}

// Explain the dashed outlines around the objects of the right answer.
function outlines({ truth, marks: { outline } }) {
  if (!truth?.names.length || !outline) return [];
  return [["dashed", `${truth.names.join(", ")}: the right answer rests on ${truth.names.length > 1 ? "these" : "it"}`]];
}

export function frameWords({ clip, frame, main, beside, sides, comparable }) {
  const { tiles, seconds } = clip.value;
  const step = main.grid.units === tiles.count ? "" : ` · unit ${main.unit + 1} of ${main.grid.units}`;
  const parts = [`Frame ${frame + 1} of ${tiles.count} · ${timeText(seconds[frame])}${step}`];
  parts.push(...sides.map((side) => `${side.name ? `${side.name}: ` : ""}${keptWords(side)}`));
  if (beside && comparable) {
    const { both, onlyA, onlyB, iou } = overlap(main.grid, sides[0].stage, sides[1].stage, main.unit);
    parts.push(`both ${both}, only A ${onlyA}, only B ${onlyB}, IoU ${iou.toFixed(2)}`);
  }
  return parts.join(" · ");
}

function keptWords(side) {
  const { grid, stage, unit } = side;
  const merged = stage.merges ? fatesIn(grid, stage, unit) : null;
  const others = merged?.merged ? `, ${merged.merged} merged, ${merged.dropped} dropped` : "";
  const found = isOfRelevance(side) ? droppedIn(side) : null;
  const gone = found ? `, ${found.gone} of ${found.mattered} that mattered dropped` : "";
  return `${stage.budgets[unit]} of ${grid.perUnit} tokens kept${others}${gone}`;
}

/**
 * The unit to look at first. With two sides it is the unit in which their kept tokens differ most; with one side
 * the unit with the largest budget after the first unit, whose budget is large in every clip.
 * @returns {{ unit: number, apart: number } | null} null if no unit stands out; `apart`: number of tokens in
 *   the unit that only one side keeps
 */
export function moment({ main, beside, comparable }) {
  const apart = comparable && !keepsAll(main) && !keepsAll(beside) ? apartByUnit(main, beside) : [];
  const most = Math.max(0, ...apart);
  if (most) return { unit: apart.indexOf(most), apart: most };
  const later = main.stage.budgets.slice(1);
  if (!later.length || Math.max(...later) - Math.min(...later) <= 1) return null;
  return { unit: 1 + later.indexOf(Math.max(...later)), apart: 0 };
}

// The frame shown first for a clip: in the unit to look at first, else in the middle.
export function openingFrame(shown) {
  const found = moment(shown);
  return found ? firstFrame(shown.main.grid, found.unit) : shown.clip.value.tiles.count >> 1;
}

const sameTokens = ({ main, beside, comparable }) => comparable && apartByUnit(main, beside).every((count) => !count);

export function momentWords(shown) {
  const { main, beside } = shown;
  const { stage, grid, place, method } = main;
  if (beside?.place === place) return `A and B are both ${method.label}: change a setting, or choose another compressor for one side.`;
  if (sameTokens(shown)) return "A and B keep the same tokens.";
  if (stage.total === grid.total) return "";
  const found = moment(shown);
  const sentence = found?.apart
    ? `A and B differ most in unit ${found.unit + 1}: ${plural(found.apart, "token")} that only one of them keeps.`
    : budgetWords(main, found);
  return [sentence, ...shown.sides.map(emptyWords)].filter(Boolean).join(" ");
}

function budgetWords({ stage, grid, split }, found) {
  const [first, ...later] = stage.budgets;
  const even = `an even share would be ${short(stage.total / grid.units)}`;
  const tokens = plural(grid.perUnit, "token");
  if (!found) {
    const all = rangeWords(stage.budgets);
    if (Math.max(...stage.budgets) - Math.min(...stage.budgets) <= 1) return `Every unit keeps ${all} of its ${tokens}.`;
    return `The first unit keeps ${first} of its ${tokens}, each later one ${rangeWords(later)}; ${even}.`;
  }
  const kept = stage.budgets[found.unit];
  const most = kept > first ? "more than any other unit" : kept === first ? "as many as the first unit"
    : `the most after the first unit, which keeps ${first}${split ? " because all of it is new" : ""}`;
  return `Unit ${found.unit + 1} keeps ${kept} of its ${tokens}, ${most}; ${even}.`;
}

function rangeWords(counts) {
  const [least, most] = [Math.min(...counts), Math.max(...counts)];
  return least === most ? `${most}` : `${least} or ${most}`;
}

// Units without any token for the model: no token is kept or merged into a kept token.
export const emptyUnits = ({ stage, grid }) =>
  stage.budgets.map((kept, unit) => !kept && !(stage.merges && fatesIn(grid, stage, unit).merged));

function emptyWords(side) {
  const { name, grid } = side;
  const empty = emptyUnits(side).filter(Boolean).length;
  if (!empty) return "";
  const where = `${empty} of ${plural(grid.units, "unit")}`;
  return name ? `${name} keeps no token in ${where}.` : `No token is kept in ${where}.`;
}

const UNEVEN = 0.5; // Gini coefficient from which on novelty is called uneven

// Describe the two parts of the current unit's budget and what determines alpha; empty if unknown.
export function splitWords({ split, stage, grid, unit }) {
  if (!split) return "";
  const kept = stage.budgets[unit];
  const even = Math.min(kept, split.alpha * stage.total / grid.units);
  const spread = split.gini >= UNEVEN ? "uneven" : "fairly even";
  const [least, most] = split.bounds;
  const alpha = split.alpha.toFixed(2);
  const range = split.bounds.length ? `, from ${least} to ${most}` : "";
  const why = range && least === most ? `Alpha ${alpha}, because alpha min and alpha max are both ${least}.`
    : `Alpha ${alpha}${range}, because novelty is ${spread} (novelty Gini ${split.gini.toFixed(2)}).`;
  return `${plural(kept, "token")} = ${even.toFixed(1)} (even share × alpha) + ${(kept - even).toFixed(1)} by novelty${unit ? "" : ", as all of the first unit is new"}. ${why}`;
}
