// @ts-check
// Cost against quality: a row a method, a marker a ratio, quality to the left and cost to the right.

import { make } from "../viewer/dom.js";
import { shareText } from "./table.js";
import { draw, marker } from "./swatch.js";

const [MARK, TOP, BOTTOM, GAP, SIDE] = [12, 8, 24, 52, 12]; // pixels
const COLOURS = ["#0072b2", "#e69f00", "#009e73", "#d55e00", "#cc79a7", "#56b4e9"];
const SYMBOLS = ["circle", "square", "diamond", "triangle-up", "triangle-down", "x"];
const ALL = { ratio: null, colour: "#808080", symbol: "cross" };
const [MATTERED, COMPRESS, SAVED] = [1, 3, 5]; // places of the cells
const prefill = ({ parts }) => parts.find(([name]) => name === "prefill")?.[1] ?? null;

/** What costs may be drawn, with their values; null where a row has none. */
export const COSTS = {
  flops: ["prefill FLOPs, % of all tokens", ({ cells }) => (cells[SAVED][1] === null ? null : 100 - cells[SAVED][1])],
  time: ["measured compress + prefill, s", (row) => {
    const [seconds, compress] = [prefill(row), row.cells[COMPRESS][1]];
    return seconds === null || compress === null ? null : seconds + compress / 1000;
  }],
};

/** How good answers are, where no right one is known. */
const QUALITIES = { words: "agreement with all tokens (words in common)", mattered: "what mattered, % kept" };
export const matteredOf = ({ cells }) => cells[MATTERED]?.[1] ?? null;

// The rows with what is kept of what mattered as their quality.
const byMattered = (rows) => rows.map((row) =>
  ({ ...row, quality: matteredOf(row) === null ? null : { value: matteredOf(row) / 100, mattered: true } }));

const menuOf = (options, value, ariaLabel, choose) => {
  const rows = Object.entries(options).map(([key, title]) => Object.assign(make("option", "", title), { value: key }));
  const menu = Object.assign(make("select", "", "", ...rows), { value, ariaLabel });
  menu.addEventListener("change", () => choose(menu));
  return menu;
};

/**
 * The title with the choice of cost, a legend and the figure; nothing where the answers say nothing.
 * @param {{ Cost: string, Quality: string }} axes  keys of COSTS and QUALITIES
 * @param {(menu: HTMLSelectElement) => void} choose
 * @returns {Element[]}
 */
export function dots(rows, width, asked, { Cost: cost, Quality: good }, choose) {
  const known = rows.some(({ quality }) => quality?.of);
  const hasChoice = !known && rows.some(({ quality }) => quality) && rows.some((row) => matteredOf(row) !== null);
  const done = (hasChoice && good === "mattered" ? byMattered(rows) : rows).filter(({ state, quality }) => state === "done" && quality);
  if (done.length < 2) return [];
  const [unit, value] = COSTS[cost];
  const ratios = [...new Set(done.map(({ ratio }) => ratio))].filter((ratio) => ratio !== null).sort((a, b) => a - b);
  const looks = new Map(ratios.map((ratio, n) =>
    [ratio, { ratio, colour: COLOURS[n % COLOURS.length], symbol: SYMBOLS[n % SYMBOLS.length] }]));
  const methods = [...new Set(done.map(({ method }) => method))];
  const name = Math.min(150, 16 + 7.2 * Math.max(...methods.map((method) => method.length)));
  const panel = (width - name - GAP - 2 * SIDE) / 2;
  const costs = done.map(value).filter((one) => one !== null);
  const most = cost === "flops" ? 100 : nice(Math.max(...costs, 1e-3));
  const quality = (share) => name + SIDE + share * panel;
  const price = (one) => name + SIDE + panel + GAP + (one / most) * panel;
  const row = 10 + MARK * Math.max(...methods.map((method) => done.filter((one) => one.method === method).length));
  const height = TOP + row * methods.length + BOTTOM;
  const words = done.map((row) => `${row.label}: ${shareText(row.quality)}`).join("; ");
  const figure = draw("svg", { class: "gv-picture", viewBox: `0 0 ${width} ${height}`, width, height, role: "img", "aria-label": words });
  for (const share of [0, 0.5, 1]) {
    figure.append(...tick(quality(share), height, `${100 * share} %`),
      ...tick(price(share * most), height, `${Number((share * most).toPrecision(2))}`));
  }
  methods.forEach((method, place) => {
    const middle = TOP + row * (place + 0.5);
    figure.append(draw("text", { x: 0, y: middle + 4, class: "gv-named" }, method));
    const own = done.filter((row) => row.method === method);
    own.forEach((one, n) => {
      const look = looks.get(one.ratio) ?? ALL;
      const y = middle + (n - (own.length - 1) / 2) * MARK;
      const { low, high } = one.quality;
      if (low !== undefined && asked.count > 1)
        figure.append(draw("line", { x1: quality(low), x2: quality(high), y1: y, y2: y, stroke: look.colour }));
      figure.append(sign(one, look, quality(one.quality.value), y, shareText(one.quality)));
      const spent = value(one);
      if (spent !== null) figure.append(sign(one, look, price(spent), y, `${Number(spent.toPrecision(3))} ${unit}`));
    });
  });
  const truth = hasChoice ? menuOf(QUALITIES, good, "Quality", choose)
    : make("span", "", known ? "right answers" : QUALITIES.words);
  const count = asked.count > 1 ? `${asked.count} questions` : "one question";
  const head = make("h2", "", `Cost against quality · ${count}`);
  const costNames = Object.fromEntries(Object.entries(COSTS).map(([key, [title]]) => [key, title]));
  const under = make("div", "gv-dots-heads", "", truth, menuOf(costNames, cost, "Cost", choose));
  under.style.paddingLeft = `${name + SIDE}px`;
  under.style.gridTemplateColumns = `${panel + GAP}px 1fr`;
  const shown = [...looks.values(), ...(done.some(({ ratio }) => ratio === null) ? [ALL] : [])];
  const legend = make("ul", "gv-dots-legend", "", ...shown.map((look) => {
    const box = draw("svg", { viewBox: "-7 -7 14 14", width: 14, height: 14, "aria-hidden": "true" }, marker(look));
    return make("li", "", "", box, look.ratio === null ? "all tokens" : `${Number((100 * look.ratio).toPrecision(3))}\u00a0% kept`);
  }));
  return [head, legend, under, figure];
}

function sign(row, look, x, y, words) {
  const hollow = row.quality.of === 1 && row.quality.right === 0;
  const group = draw("g", { transform: `translate(${x} ${y})` }, marker(look, hollow));
  group.append(draw("title", {}, `${row.label}: ${words}`));
  return group;
}

const tick = (x, height, text) => [
  draw("line", { x1: x, x2: x, y1: TOP, y2: height - BOTTOM, class: "gv-grid" }),
  draw("text", { x, y: height - 8, "text-anchor": "middle" }, text),
];

// 1, 2 or 5 times a power of ten, at least as large.
function nice(least) {
  const power = 10 ** Math.floor(Math.log10(least));
  return [1, 2, 5, 10].find((factor) => factor * power >= least - 1e-12) * power;
}
