// @ts-check
// What every method saves against what it loses: a point a row, the ratios of a method joined. Names
// stand to the right of their points, in a column that meets no other point, one below the other.

import { make } from "../viewer/dom.js";
import { draw, line, marker } from "./swatch.js";

const [TOP, LEFT, BOTTOM] = [14, 46, 34];
const [LINE, LEAST] = [15, 220]; // pixels: from name to name; of the picture
const FONT = "12px system-ui, sans-serif";
const [SAVED, SCORE] = [4, 5]; // places of the cells
const SPREAD = 0.1; // nats: smaller differences than the words can show are not drawn large
const TICKS = [1, 2, 5, 10, 20, 50, 100]; // % of the FLOPs, on a logarithmic axis

/** @returns {Element[]} */
export function scatter(rows, width) {
  const points = rows.filter(({ state, cells }) => state === "done" && cells[SCORE][1] !== null)
    .map((row) => ({ ...row, share: 100 - row.cells[SAVED][1], score: row.cells[SCORE][1] }));
  if (points.length < 2) return [];
  const methods = [...new Set(points.map(({ method }) => method))].map((method) =>
    ({ method, own: points.filter((point) => point.method === method).sort((a, b) => a.share - b.share) }));
  const widest = Math.max(...methods.map(({ method }) => widthOf(method)));
  const height = Math.max(LEAST, TOP + BOTTOM + LINE * methods.length);
  const scales = fit(points, width - widest - 24, height);
  const picture = /** @type {any} */ (draw("svg", {
    class: "gv-picture", viewBox: `0 0 ${width} ${height}`, width, height, role: "img",
    "aria-label": "Cost against quality; the table has the numbers",
  }));
  picture.append(...axes(scales));
  for (const { own } of methods)
    if (own.length > 1) picture.append(line(own[0], own.map((point) => scales.at(point)).join(" ")));
  picture.append(...names(methods, points, scales, height), ...points.map((point) => sign(point, scales)));
  const title = make("h2", "", "Cost against quality", make("small", "", "log-probability of the all-token answer, nats per token; hollow: wrong answer"));
  return [title, picture];
}

// Where values stand in the picture.
function fit(points, right, height) {
  const scores = points.map(({ score }) => score);
  const high = Math.max(...scores);
  const low = Math.min(...scores, high - SPREAD);
  const room = 0.06 * (high - low || 1);
  const least = 0.8 * Math.max(0.1, Math.min(...points.map(({ share }) => share)));
  const x = (share) => LEFT + (Math.log(Math.max(share, least) / least) / Math.log(100 / least)) * (right - LEFT);
  const y = (score) => TOP + ((high + room - score) / (high - low + 2 * room)) * (height - TOP - BOTTOM);
  const at = ({ share, score }) => [x(share), y(score)];
  return { x, y, at, low, high, least, right, bottom: height - BOTTOM };
}

function axes({ x, y, low, high, least, right, bottom }) {
  const parts = [];
  const step = steps((high - low || 1) / 4);
  for (let tick = Math.ceil(low / step) * step; tick <= high + 1e-9; tick += step) {
    const words = tick.toFixed(Math.max(0, -Math.floor(Math.log10(step)))).replace("-", "−").replace(/^−(0\.?0*)$/, "$1");
    parts.push(draw("line", { x1: LEFT, x2: right, y1: y(tick), y2: y(tick), class: "gv-grid" }),
      draw("text", { x: LEFT - 8, y: y(tick) + 4, "text-anchor": "end" }, words));
  }
  for (const tick of TICKS.filter((tick) => tick >= least))
    parts.push(draw("line", { x1: x(tick), x2: x(tick), y1: TOP, y2: bottom, class: "gv-grid" }),
      draw("text", { x: x(tick), y: bottom + 16, "text-anchor": "middle" }, tick));
  const under = "prefill FLOPs, % of those of all tokens";
  return [...parts, draw("text", { x: right, y: bottom + 31, "text-anchor": "end" }, under)];
}

// 1, 2 or 5 times a power of ten, at least as large.
function steps(least) {
  const power = 10 ** Math.floor(Math.log10(least));
  return [1, 2, 5, 10].find((factor) => factor * power >= least) * power;
}

function sign(point, scales) {
  const group = draw("g", { transform: `translate(${scales.at(point)})` }, marker(point, point.right === false));
  const [kept, , , , saved, score] = point.cells.map(([text]) => text);
  const verdict = point.right === null ? "" : point.right ? ", right" : ", wrong";
  group.append(draw("title", {}, `${point.label}: ${kept} tokens, ${saved} % FLOPs saved, ${score} nats${verdict}`));
  return group;
}

// A name for every method, beside the point of its greatest cost.
function names(methods, points, scales, height) {
  const anchors = methods.map(({ method, own }) => ({ method, point: own.at(-1) }));
  anchors.sort((one, other) => one.point.share - other.point.share);
  const parts = [];
  while (anchors.length) {
    const [column, edge] = take(anchors, points, scales);
    const rows = spread(column.map(({ point }) => scales.at(point)[1]), height);
    column.forEach(({ method, point, place }, n) => {
      const [left, top] = scales.at(point);
      const bend = [[left, top], [edge + 6, rows[n]], [edge + 10, rows[n]]];
      parts.push(draw("polyline", { points: bend.join(" "), class: "gv-leader" }),
        draw("text", { x: edge + 13, y: rows[n] + 4, class: "gv-named" }, method));
    });
  }
  return parts;
}

// The next names that go into one column, highest point first, and the column's left edge: right of
// all points that it would hide else.
function take(anchors, points, scales) {
  const column = [anchors.shift()];
  let edge = scales.at(column[0].point)[0];
  for (let grown = true; grown;) {
    grown = false;
    const wide = edge + 24 + Math.max(...column.map(({ method }) => widthOf(method)));
    const met = points.map((point) => scales.at(point)[0]).filter((left) => left > edge && left < wide);
    if (met.length) [edge, grown] = [Math.max(...met), true];
    while (anchors.length && scales.at(anchors[0].point)[0] <= edge) {
      column.push(anchors.shift());
      grown = true;
    }
  }
  column.sort((one, other) => other.point.score - one.point.score);
  return /** @type {[any[], number]} */ ([column, edge]);
}

// Heights as near as may be to those wanted (rising), a line apart and within the picture.
function spread(wanted, height) {
  const rows = [...wanted];
  const [first, last] = [TOP, height - BOTTOM];
  for (let n = 0; n < rows.length; n++)
    rows[n] = Math.max(rows[n], n ? rows[n - 1] + LINE : first);
  for (let n = rows.length - 1; n >= 0; n--)
    rows[n] = Math.min(rows[n], n < rows.length - 1 ? rows[n + 1] - LINE : last);
  return rows;
}

const paper = document.createElement("canvas").getContext("2d");

function widthOf(text) {
  paper.font = FONT;
  return paper.measureText(text).width;
}
