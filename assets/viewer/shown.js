// @ts-check
// The state of a viewer with the methods, stages and units that it shows. Everything that the viewer draws or
// says is computed from it.

import { sameGrid, stageAt } from "./data.js";
import { evidenceOf } from "./truth.js";

/** @param {import("./viewer.js").Viewer} viewer */
export function shownOf(viewer) {
  const { clip, frame, kind, layer, hovered, changes, pin } = viewer;
  const places = viewer.b === null ? [viewer.a] : [viewer.a, viewer.b];
  const map = clip.relevance?.maps[viewer.word] ?? null;
  const sides = places.map((place, index) => sideOf(viewer, place, index ? "b" : "a", places.length > 1, map));
  const [main, beside] = [sides.at(-1), sides.length > 1 ? sides[0] : null];
  const own = sides.find(({ key }) => key === viewer.handled) ?? main; // the side under the pointer
  return {
    clip, frame, kind, layer, sides, main, beside, own,
    comparable: beside !== null && sameGrid(main.grid, beside.grid),
    map, truth: truthOf(viewer),
    marks: { hovered, pinned: pin.token, outline: viewer.outline, grid: own.grid, changed: changes.marks },
    strength: Number(viewer.strength.value) / 100,
    focus: hovered >= 0 ? own.first + hovered : pin.token,
  };
}

// The objects of the right answer to the result's question; null if unknown or if the box has another question.
const truthOf = ({ clip: { value: { truth } }, question }) =>
  (truth && (question ?? truth.question) === truth.question ? truth : null);

// `shared`: whether the clip's novelty belongs to this side's grid. `heat`: levels by which the view colours tokens;
// null if this side has none, undefined in views without a heat map.
function sideOf(viewer, place, key, named, chosen) {
  const { clip, frame, kind, layer, score: name } = viewer;
  const method = clip.methods[place];
  const { grid } = method;
  const stage = viewer.edit.drawn(stageAt(method, layer), key, grid);
  const unit = grid.unitOf[frame];
  const truth = truthOf(viewer);
  const shared = sameGrid(grid, clip.methods[0].grid);
  const score = stage.scores.find((one) => one.name === name) ?? stage.scores[0] ?? null;
  const map = chosen && sameGrid(grid, clip.relevance) ? chosen : null;
  return {
    key, place, method, stage, grid, unit,
    name: named ? key.toUpperCase() : "",
    split: (stage === method.stages[0] && method.split) || null, // alpha and novelty Gini behind the unit budgets
    first: unit * grid.perUnit,
    shared, score, map,
    heat: { heat: score, relevance: map }[kind],
    truth, evidence: truth ? evidenceOf(truth, grid) : null,
  };
}
