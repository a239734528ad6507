// @ts-check
// Fetches and unpacks the data of the viewer; uses no element of the page. A token is identified by its index in
// the whole grid, unit by unit and row by row. A merged row has the index of one of its tokens.

import { unpackRelevance } from "./relevance.js";

/**
 * The token grid of one encoding. `area` is the part of the frame that tokens cover: left, top, right,
 * bottom as fractions of the frame; `unitOf` has the unit of every frame.
 * @typedef {{ units: number, rows: number, columns: number, perUnit: number, total: number,
 *   area: number[], unitOf: number[] }} Grid
 *
 * One score of every token, as integer levels that are scaled from `low` to `high`.
 * @typedef {{ name: string, label: string, low: number, high: number, levels: Uint16Array }} Score
 *
 * The tokens that remain from one layer on. `kept` is 1 for a token whose index is that of a row; `home` has for
 * every token the index of the row that it is part of, or -1 if the token was dropped.
 * @typedef {{ layer: number, total: number, budgets: number[], rank: number[] | null,
 *   span: number[] | null, merges: boolean, mixed?: boolean, kept: Uint8Array,
 *   home: Int32Array | null, weight: Uint16Array | null, scores: Score[],
 *   turns?: Uint8Array }} Stage
 *
 * One run: the effect of a compressor on the clip, stage by stage. `id` is the id of the run. `mattered` has
 * three fractions of the relevance, averaged over the model's layers: of the kept tokens, of as many of the most
 * relevant tokens, and of as many random tokens.
 * @typedef {{ id: string, name: string, label: string, first: number, novelty: number[] | null,
 *   split?: { alpha: number, gini: number } | null, grid: Grid, stages: Stage[],
 *   mattered: number[] | null }} Method
 *
 * A clip with all its runs. `value` is the JSON that the server sent; its novelty has the first run's grid.
 * @typedef {{ value: any, methods: Method[], relevance: import("./relevance.js").Relevance | null,
 *   sheet?: ImageBitmap }} Clip
 */

export const ABSENT = 65535; // level of a token without a score

/**
 * @param {any} value
 * @param {ArrayBuffer} buffer
 * @returns {Clip}
 */
export function unpackClip(value, buffer) {
  const methods = value.methods.map((method) => {
    const grid = gridOf(method.grid ? method : value);
    return { ...method, grid, stages: method.stages.map((stage) => unpackStage(stage, grid.total, buffer)) };
  });
  nameRuns(methods, value);
  const relevance = unpackRelevance(value.relevance, buffer);
  return { value, methods, relevance };
}

// Runs without an id from Python are identified by their index.
export function nameRuns(methods, value) {
  methods.forEach((method, place) => { method.id = String(value.runs?.[place] ?? place); });
}

function gridOf({ grid: [units, rows, columns], area, units: unitOf }) {
  const perUnit = rows * columns;
  return { units, rows, columns, perUnit, total: units * perUnit, area, unitOf };
}

function unpackStage(stage, total, buffer) {
  const bits = new Uint8Array(buffer, stage.mask, Math.ceil(total / 8));
  const kept = Uint8Array.from({ length: total }, (_, n) => (bits[n >> 3] >> (7 - (n & 7))) & 1);
  const merges = stage.home !== undefined;
  return {
    span: null,
    ...stage,
    kept,
    total: stage.kept,
    merges,
    home: merges ? new Int32Array(buffer, stage.home, total) : null,
    weight: merges ? new Uint16Array(buffer, stage.weight, total) : null,
    scores: stage.scores.map((score) => ({
      ...score,
      levels: new Uint16Array(buffer, score.place, total),
    })),
  };
}

export const sameGrid = (one, other) =>
  one.units === other.units && one.rows === other.rows && one.columns === other.columns;

// Compare clips by their content, not by the address of the frame sheet, which differs for a saved result.
export const sameFrames = (one, other) => one.name === other.name && String(one.seconds) === String(other.seconds);

export const keepsAll = ({ stage, grid }) => stage.total === grid.total;

// For each unit, the number of tokens kept by only one of two sides with the same grid.
export function apartByUnit(one, other) {
  const { units, perUnit } = one.grid;
  const apart = Array.from({ length: units }, () => 0);
  one.stage.kept.forEach((kept, token) => {
    if (kept !== other.stage.kept[token]) apart[Math.floor(token / perUnit)] += 1;
  });
  return apart;
}

// The layers before which one of the methods drops or merges tokens, in order.
export const layersOf = (methods) =>
  [...new Set(methods.flatMap((method) => method.stages.map((stage) => stage.layer)))]
    .sort((left, right) => left - right);

// The last stage that acted at or before this layer.
export const stageAt = (method, layer) =>
  method.stages.findLast((stage) => stage.layer <= layer) ?? method.stages[0];

export function placeOf(grid, token) {
  const unit = Math.floor(token / grid.perUnit);
  const inside = token % grid.perUnit;
  return { unit, row: Math.floor(inside / grid.columns), column: inside % grid.columns };
}

export const firstFrame = (grid, unit) => Math.max(0, grid.unitOf.indexOf(unit));

// The frame shown at a second of the clip.
export const frameAt = (seconds, at) => Math.max(0, seconds.findLastIndex((second) => second <= at + 1e-3));

// The frame sampled nearest to a second of the clip.
export const nearestFrame = (seconds, at) =>
  seconds.reduce((best, second, frame) => (Math.abs(second - at) < Math.abs(seconds[best] - at) ? frame : best), 0);

export function scoreAt(score, token) {
  const level = score.levels[token];
  return level === ABSENT ? null : score.low + (level / (ABSENT - 1)) * (score.high - score.low);
}

// The fate of a token: "kept" if a row has its index, "merged" if it is part of another row, or "dropped".
export function fateOf(stage, token) {
  if (stage.kept[token]) return "kept";
  return stage.merges && stage.home[token] >= 0 ? "merged" : "dropped";
}

// The index of the row that `token` is part of: `token` itself if kept, -1 if dropped.
export const homeOf = (stage, token) => (stage.merges ? stage.home[token] : stage.kept[token] ? token : -1);

// Count the kept, merged and dropped tokens of one unit.
export function fatesIn(grid, stage, unit) {
  const counts = { kept: 0, merged: 0, dropped: 0 };
  for (let n = unit * grid.perUnit; n < (unit + 1) * grid.perUnit; n++) counts[fateOf(stage, n)] += 1;
  return counts;
}

// All tokens that are part of the row with the index `home`.
export function membersOf(stage, home) {
  const members = [];
  stage.home.forEach((place, token) => { if (place === home) members.push(token); });
  return members;
}

// Count the tokens that both masks, only A's or only B's keep in one unit (null: in the clip), with their IoU.
export function overlap(grid, a, b, unit = null) {
  const first = unit === null ? 0 : unit * grid.perUnit;
  const stop = unit === null ? grid.total : first + grid.perUnit;
  const counts = { both: 0, onlyA: 0, onlyB: 0 };
  for (let n = first; n < stop; n++) {
    if (a.kept[n] && b.kept[n]) counts.both += 1;
    else if (a.kept[n]) counts.onlyA += 1;
    else if (b.kept[n]) counts.onlyB += 1;
  }
  const union = counts.both + counts.onlyA + counts.onlyB;
  return { ...counts, iou: union ? counts.both / union : 1 };
}

// --- the two files of a result: one image with all frames, one file with all masks and scores -------

async function fetched(file) {
  const reply = await fetch(file.url);
  if (!reply.ok) throw new Error(`${reply.status}`);
  return reply;
}

const picture = async (file) => createImageBitmap(await (await fetched(file)).blob());
const bytes = async (file) => (await fetched(file)).arrayBuffer();

/**
 * @param {any} value
 * @param {Clip | null} before  the previous clip; its frames are reused if they are the same
 */
export async function fetchClip(value, before) {
  const same = before?.value.sheet.url === value.sheet.url;
  const [sheet, data] = await Promise.all([same ? before.sheet : picture(value.sheet), bytes(value.data)]);
  return { ...unpackClip(value, data), sheet };
}
