// @ts-check
// The view "What mattered": a map of the tokens that the answer rests on, and one for each word of the answer.

import { button, make, openTab } from "./dom.js";

const MOST = 0.8; // the fewest tokens with this fraction of a map's relevance count as "mattered"

/**
 * Relevance of every token for an answer, or for one `word` of the answer. `shares` sum to 1; `levels` up to
 * 255 grow with the square root of a share; `mattered` is 1 for tokens that mattered; `units` has the sum of
 * shares in each unit.
 * @typedef {{ word: string, high: number, shares: Float32Array, levels: Uint8Array,
 *   mattered: Uint8Array, units: number[] }} TokenMap
 *
 * @typedef {{ question: string, answer: string, units: number, rows: number, columns: number,
 *   maps: TokenMap[] }} Relevance  `maps`: of the whole answer, then of its words
 */

/** @returns {Relevance | null} */
export function unpackRelevance(value, buffer) {
  if (!value) return null;
  const { question, answer, grid: [units, rows, columns] } = value;
  const maps = value.maps.map(({ word, high, place }) => {
    const stored = new Uint16Array(buffer, place, units * rows * columns);
    const shares = Float32Array.from(stored, (level) => (level / 65535) * high);
    const levels = Uint8Array.from(stored, (level) => Math.round(255 * Math.sqrt(level / 65535)));
    return { word, high, shares, levels, mattered: fewest(shares), units: sums(shares, units) };
  });
  return { question, answer, units, rows, columns, maps };
}

function fewest(shares) {
  const found = new Uint8Array(shares.length);
  let held = 0;
  for (const token of [...shares.keys()].sort((one, other) => shares[other] - shares[one])) {
    if (held >= MOST) break;
    found[token] = 1;
    held += shares[token];
  }
  return found;
}

function sums(shares, units) {
  const size = shares.length / units;
  return Array.from({ length: units }, (_, unit) =>
    shares.subarray(unit * size, (unit + 1) * size).reduce((sum, share) => sum + share, 0));
}

export const percent = (share) => `${(100 * share).toFixed(share < 0.0995 ? 1 : 0)} %`;

// Whether this side currently shows the relevance map.
export const isOfRelevance = ({ heat, map }) => Boolean(heat) && heat === map;

// The text "Kept 83 % of what mattered" for a run and the whole answer. The number does not depend on the stage
// shown: it is the mean over layers, as in the tab Compare.
export function keptWords({ mattered, stages }) {
  const over = stages.length > 1 ? " (mean over layers)" : "";
  return mattered ? `Kept ${Math.round(100 * mattered[0])} % of what mattered${over}` : "";
}

export const boundWords = ([, best, random]) =>
  `As many random tokens would keep ${percent(random)}, as many of the most relevant tokens ${percent(best)}.`;

// Warning shown with every statement about relevance.
export const useLine = () => make("p", "gv-use", "What mattered: a measure of this model's use of its input, not of truth. ",
  button("How far to trust it", () => openTab("About", ".gv-relevance")));

// Count the tokens of a unit that mattered, and how many of these a side dropped.
export function droppedIn({ map: { mattered }, stage, grid, first }) {
  const places = Array.from({ length: grid.perUnit }, (_, n) => first + n).filter((token) => mattered[token]);
  const gone = places.filter((token) => (stage.merges ? stage.home[token] < 0 : !stage.kept[token]));
  return { mattered: places.length, gone: gone.length };
}

/**
 * Replace the words of an answer by buttons. A button shows the map of its word while the pointer is on it, and
 * after a press until the next press.
 * @param {HTMLElement} place  holds the answer's text
 * @param {Relevance} relevance
 * @param {import("./viewer.js").Viewer} viewer
 */
export function spell(place, relevance, viewer) {
  const text = place.textContent;
  const pieces = [];
  let end = 0;
  relevance.maps.forEach(({ word }, number) => {
    const at = word ? text.indexOf(word, end) : -1;
    if (at < 0) return;
    pieces.push(text.slice(end, at), wordButton(word, number, viewer));
    end = at + word.length;
  });
  place.replaceChildren(...pieces, text.slice(end));
}

function wordButton(word, number, viewer) {
  const made = button(word, () => {
    viewer.pointAt(viewer.pressed === number ? 0 : number, true);
    viewer.telling.say(viewer.pressed ? `What mattered for “${word}”.` : "What mattered for the whole answer.");
  }, "gv-word");
  made.dataset.word = `${number}`;
  made.ariaPressed = String(viewer.pressed === number);
  for (const event of ["pointerenter", "focus"]) made.addEventListener(event, () => viewer.pointAt(number));
  for (const event of ["pointerleave", "blur"]) made.addEventListener(event, () => viewer.pointAt(viewer.pressed));
  return made;
}
