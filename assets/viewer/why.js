// @ts-check
// Explains in one line why a token was kept or dropped, from the masks and scores in the browser.

import { ABSENT, fateOf, keepsAll, membersOf, placeOf, scoreAt } from "./data.js";
import { plural, short } from "./dom.js";

const TIED = 8; // scores of 0 to 65534 that differ by at most this are tied in float32
const EQUAL = 2; // weights of 0 to 65535 that differ by at most this are equal

/**
 * The score that explains which tokens a stage keeps: no dropped token has a higher score than a kept one, in
 * the whole clip or within every unit.
 * @typedef {{ score: import("./data.js").Score, perUnit: boolean }} Rule
 * @type {WeakMap<import("./data.js").Stage, Rule | null>}
 */
const rules = new WeakMap();

/** @returns {Rule | null} null if no score explains the mask. */
export function ruleOf({ grid, stage }) {
  if (!rules.has(stage)) rules.set(stage, findRule(grid, stage));
  return rules.get(stage);
}

function findRule(grid, stage) {
  for (const perUnit of [false, true]) {
    const score = stage.scores.find((one) => explains(one, stage.kept, perUnit ? grid.perUnit : grid.total));
    if (score) return { score, perUnit };
  }
  return null;
}

function explains({ levels, low, high }, kept, size) {
  if (low === high) return false;
  for (let first = 0; first < kept.length; first += size) {
    let [least, most] = [Infinity, -Infinity]; // lowest score of a kept token, highest of a dropped one
    for (let n = first; n < first + size; n++) {
      if (levels[n] === ABSENT && kept[n]) return false;
      if (kept[n]) least = Math.min(least, levels[n]);
      else if (levels[n] !== ABSENT) most = Math.max(most, levels[n]);
    }
    if (most > least + TIED) return false;
  }
  return true;
}

// Explain in one sentence why a side kept or dropped a token.
export function whyWords(side, token) {
  const fate = fateOf(side.stage, token);
  if (fate === "merged") return mergedWords(side, token);
  if (keepsAll(side)) return "Kept, as all tokens are.";
  const others = side.stage.merges && fate === "kept" ? membersOf(side.stage, token).length - 1 : 0;
  const taken = others ? ` ${plural(others, "other")} ${howMerged(side.stage, token)} into it.` : "";
  return placeWords(side, token, fate) + taken;
}

function mergedWords({ grid, stage }, token) {
  const home = stage.home[token];
  const others = membersOf(stage, home).filter((member) => member !== home && member !== token).length;
  const how = howMerged(stage, home);
  const { unit, row, column } = placeOf(grid, home);
  const company = others ? `, with ${plural(others, "other")}` : "";
  return `${how[0].toUpperCase()}${how.slice(1)} into the token at unit ${unit + 1}, row ${row + 1}, column ${column + 1}${company}.`;
}

function howMerged(stage, home) {
  const weights = membersOf(stage, home).map((member) => stage.weight[member]);
  return Math.max(...weights) - Math.min(...weights) <= EQUAL ? "averaged" : "merged";
}

function placeWords(side, token, fate) {
  const { stage, method, grid } = side;
  const verb = fate === "kept" ? "Kept" : "Dropped";
  const rule = ruleOf(side);
  if (!rule) {
    const reason = stage.scores.length ? "does not choose by one score" : "gives no score";
    return `${verb}. ${method.label} ${reason}.`;
  }
  const value = scoreAt(rule.score, token);
  if (value === null) return "Dropped at an earlier layer of the language model.";
  const counts = countIn(grid, stage, rule, token);
  const name = rule.score.label.replace(/ score$/, "");
  return fate === "kept" ? keptWords(counts, rule, name, value) : droppedWords(counts, rule, name, value);
}

// Among the tokens that compete with `token`: how many are kept, the rank of `token` (kept tokens come before
// dropped ones), and the lowest kept and highest dropped score.
function countIn(grid, stage, { score, perUnit }, token) {
  const size = perUnit ? grid.perUnit : grid.total;
  const first = token - (token % size);
  let [places, ahead, lowest, next] = [0, 0, -1, -1];
  for (let n = first; n < first + size; n++) {
    if (score.levels[n] === ABSENT) continue;
    const kept = stage.kept[n];
    places += kept;
    if (kept && (lowest < 0 || score.levels[n] < score.levels[lowest])) lowest = n;
    if (!kept && (next < 0 || score.levels[n] > score.levels[next])) next = n;
    if (kept === stage.kept[token] && score.levels[n] > score.levels[token]) ahead += 1;
  }
  const place = 1 + ahead + (stage.kept[token] ? 0 : places);
  const at = (n) => (n < 0 ? null : scoreAt(score, n));
  return { places, place, last: at(lowest), next: at(next) };
}

const where = ({ perUnit }) => (perUnit ? "this unit" : "the clip");

function keptWords({ places, place, last, next }, rule, name, value) {
  if (next === null) return `Kept: ${where(rule)} keeps all its tokens (${name} ${short(value)}).`;
  const [own, border] = apart(value, place === places ? next : last);
  const other = place === places ? `the first dropped has ${border}` : `the ${ordinal(places)} has ${border}`;
  const of = plural(places, "place");
  return `Kept: ${ordinal(place)} of ${of} in ${where(rule)} (${name} ${own}; ${other}).`;
}

function droppedWords({ places, place, last }, rule, name, value) {
  if (!places) return `Dropped: ${where(rule)} keeps no token. ${ordinal(place)} by ${name} (${short(value)}).`;
  const behind = place - places;
  const [own, border] = apart(value, last);
  const gap = behind === 1 ? "one place short" : `${behind.toLocaleString("en")} places short`;
  return own === border
    ? `Dropped: ${ordinal(place)}, ${gap}, tied with the last one kept (${name} ${own}).`
    : `Dropped: ${ordinal(place)}, ${gap} (${name} ${own} against ${border}).`;
}

// Format two scores with enough digits to differ, at most five.
function apart(one, other) {
  const digits = [3, 4, 5].find((count) => one.toPrecision(count) !== other.toPrecision(count)) ?? 3;
  return [one, other].map((value) => Number(value.toPrecision(digits)).toLocaleString("en", { maximumFractionDigits: 6 }));
}

function ordinal(n) {
  const ending = n % 100 > 10 && n % 100 < 14 ? "th" : { 1: "st", 2: "nd", 3: "rd" }[n % 10] ?? "th";
  return `${n.toLocaleString("en")}${ending}`;
}
