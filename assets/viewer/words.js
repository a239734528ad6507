// @ts-check
// What the viewer says of the frame on show: its legend, its caption, and one sentence about the
// run. Text from outside is only ever set as textContent.

import { ABSENT, apartByUnit, fatesIn, firstFrame, keepsAll, overlap } from "./data.js";
import { make, plural, short, timeText } from "./dom.js";
import { droppedIn, isOfRelevance, percent } from "./relevance.js";

const atLayer = (layer) => (layer ? `layer ${layer} of the language model` : "the language model");

// Describe the current view in one or two sentences.
const WHAT = {
  kept: ({ main: { method, stage }, layer }) =>
    `The frame as ${method.label} leaves it to ${atLayer(layer)}: bright tokens are `
    + (stage.merges ? "kept, dotted ones are merged into a kept one, dark ones are dropped." : "kept, dark ones are dropped."),
  heat: ({ sides }) => sides.filter(({ score }) => score).map(({ method, score }) =>
    `How ${method.label} rates every token by its ${score.label}.`).join(" ") + " White lines surround kept tokens.",
  relevance: ({ clip: { relevance } }) => (relevance
    ? `Which tokens the answer “${relevance.answer}” rests on. White lines surround kept tokens; a cross marks those that `
      + `mattered and were dropped.${relevance.maps.length > 1 ? " Point at a word of that answer for its own map." : ""}`
    : "Not measured for this question yet."),
  ab: ({ sides: [a, b] }) =>
    `Where A, ${a.method.label}, and B, ${b.method.label}, keep the same tokens and where they differ.`,
  groups: ({ main: { method } }) =>
    `Where the tokens go under ${method.label}: one colour is one token that the model receives, its dot `
    + "the place it stands at. Point at a group to see all of it.",
  original: () => "The frame as it was sampled, without any marks.",
  alike: () => "How alike every token is to the pinned one, in all units. White lines surround kept tokens; "
    + "1, 2 and 3 are the kept tokens most like it.",
};

const LEGENDS = {
  kept: ({ sides }) => (sides.some(({ stage }) => stage.merges) ? [["dots", "merged into a kept token"]] : []),
  heat: ({ sides }) => {
    const scored = sides.filter(({ score }) => score);
    const gone = scored.some(({ score }) => score.levels.includes(ABSENT));
    // A score that all sides show is already named in the menu of scores.
    const named = scored.every(({ score, stage }) => stage.scores.length > 1 && score.label === scored[0].score.label);
    const range = ({ name, score }) =>
      [name, `${short(score.low)} – ${short(score.high)}`, named ? "" : score.label].filter(Boolean).join(" ");
    return [["ramp", scored.map(range).join(" · ")], ...(gone ? [["dark", "gone before this layer"]] : [])];
  },
  relevance: ({ map }) => (map ? [
    ["ramp", `0 – ${percent(map.high)}`], ["cross", "dropped"], ["edge", "kept"],
  ] : []),
  ab: () => [["bright", "both"], ["a", "only A"], ["b", "only B"], ["dark", "neither"]],
  groups: ({ main: { stage } }) => [
    ["groups", "one colour and border: one merged token"], ["dot", "the place it stands at"],
    ...(stage.merges ? [["dots", "merged into another unit"]] : []), ["dark", "dropped"],
  ],
  original: () => [],
  alike: ({ likeness: { low, high } }) => [["ramp", `cosine ${low.toFixed(2)} – ${high.toFixed(2)}`]],
};

export const whatIsShown = (shown) => WHAT[shown.kind](shown);

// `missing`: reasons why some views are empty.
export function legend(shown, missing) {
  return [...LEGENDS[shown.kind](shown), ...missing.map((reason) => ["", reason])].map(([swatch, text]) => {
    const item = make("li", "", text);
    if (swatch) item.prepend(make("i", `gv-swatch gv-swatch-${swatch}`));
    return item;
  });
}

// Size of the data sent to the browser, and what was left out as too large.
export function sizeWords(clip) {
  const { bytes, left_out: left } = clip.value;
  const size = (count) => `${(count / 1e6).toFixed(count < 1e6 ? 2 : 1)} MB`;
  const missing = left.length ? ` Too large to send: ${left.join(", ")}.` : "";
  return `In this browser: ${size(bytes.frames)} of frames, ${size(bytes.tokens)} `
    + `of masks and scores for ${plural(clip.methods.length, "compressor")}.${missing}`;
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
 * The unit to look at first. Of two compressors the one in which they keep other tokens most; else
 * the one that gets most after the first unit, which has no past to be known from.
 * @returns {{ unit: number, apart: number } | null} null where no unit stands out; `apart`: tokens
 *   that only one of them keeps there
 */
export function moment({ main, beside, comparable }) {
  const apart = comparable && !keepsAll(main) && !keepsAll(beside) ? apartByUnit(main, beside) : [];
  const most = Math.max(0, ...apart);
  if (most) return { unit: apart.indexOf(most), apart: most };
  const later = main.stage.budgets.slice(1);
  if (!later.length || Math.max(...later) - Math.min(...later) <= 1) return null;
  return { unit: 1 + later.indexOf(Math.max(...later)), apart: 0 };
}

// The frame a clip opens with: in the unit with the largest budget, else the middle.
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

function budgetWords({ stage, grid }, found) {
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
    : `the most after the first unit, which keeps ${first}`;
  return `Unit ${found.unit + 1} keeps ${kept} of its ${tokens}, ${most}; ${even}.`;
}

function rangeWords(counts) {
  const [least, most] = [Math.min(...counts), Math.max(...counts)];
  return least === most ? `${most}` : `${least} or ${most}`;
}

// Units of which the model sees nothing: no token is kept or merged into a kept one.
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

// Describe the two parts of the current unit's budget and the cause of alpha; nothing if unknown.
export function splitWords({ split, stage, grid, unit }) {
  if (!split) return "";
  const kept = stage.budgets[unit];
  const even = Math.min(kept, split.alpha * stage.total / grid.units);
  const spread = split.gini >= UNEVEN ? "uneven" : "fairly even";
  return `${plural(kept, "token")} = ${even.toFixed(1)} (even share × alpha) + ${(kept - even).toFixed(1)} by novelty. `
    + `Alpha ${split.alpha.toFixed(2)}, because novelty is ${spread} (Gini ${split.gini.toFixed(2)}).`;
}
