// @ts-check
// Figure of cost against quality: a row for each method, a marker for each ratio; quality on the left half,
// cost on the right.

import { make, percent } from "../viewer/dom.js";
import { shareText } from "./table.js";
import { draw, marker } from "./swatch.js";

const [MARK, TOP, BOTTOM, GAP, SIDE] = [12, 8, 24, 52, 12]; // sizes in the figure, in pixels
const COLOURS = ["#0072b2", "#e69f00", "#009e73", "#d55e00", "#cc79a7", "#56b4e9"];
const SYMBOLS = ["circle", "square", "diamond", "triangle-up", "triangle-down", "x"];
const ALL = { ratio: null, colour: "#808080", symbol: "cross" };
const figure = ({ cells }, title) => cells[title]?.[1] ?? null;
const prefill = ({ parts }) => parts.find(([name]) => name === "prefill")?.[1] ?? null;

/** Costs for the x axis: title, and function that returns the cost of a row, null if it is unknown. */
export const COSTS = {
  flops: ["prefill FLOPs, % of all tokens", (row) => (figure(row, "Saved") === null ? null : 100 - figure(row, "Saved"))],
  time: ["measured compress + prefill, s", (row) => {
    const [seconds, compress] = [prefill(row), figure(row, "Compress")];
    return seconds === null || compress === null ? null : seconds + compress / 1000;
  }],
};

/** Titles of the measures of answer quality, for questions without a known right answer. */
const QUALITIES = { words: "agreement with all tokens (words in common)", mattered: "what mattered, % kept" };
export const matteredOf = (row) => figure(row, "Mattered");

// Copies of the rows, with the fraction of relevance that a row keeps as its quality.
const byMattered = (rows) => rows.map((row) =>
  ({ ...row, quality: matteredOf(row) === null ? null : { value: matteredOf(row) / 100, mattered: true } }));

const menuOf = (options, value, ariaLabel, choose) => {
  const rows = Object.entries(options).map(([key, title]) => Object.assign(make("option", "", title), { value: key }));
  const menu = Object.assign(make("select", "", "", ...rows), { value, ariaLabel });
  menu.addEventListener("change", () => choose(menu));
  return menu;
};

/**
 * The title with the choice of cost, a legend and the figure; empty unless two rows have a quality.
 * @param {{ Cost: string, Quality: string }} axes  keys of COSTS and QUALITIES
 * @param {(menu: HTMLSelectElement) => void} choose
 * @returns {Element[]}
 */
export function dots(rows, width, asked, { Cost: cost, Quality: good }, choose) {
  const known = rows.some(({ quality }) => quality?.of);
  const hasChoice = !known && rows.some(({ quality }) => quality) && rows.some((row) => matteredOf(row) !== null);
  const done = (hasChoice && good === "mattered" ? byMattered(rows) : rows).filter(({ state, quality }) => state === "done" && quality);
  if (done.length < 2) return [];
  const looks = looksOf(done);
  const plan = planOf(done, width, cost);
  const head = make("h2", "", `Cost against quality · ${asked.count} questions`);
  return [head, legendOf(looks, done), headsOf(plan, { cost, good: hasChoice ? good : "", known }, choose), figureOf(done, plan, looks)];
}

// Map every retention ratio to a colour and a symbol.
function looksOf(done) {
  const ratios = [...new Set(done.map(({ ratio }) => ratio))].filter((ratio) => ratio !== null).sort((a, b) => a - b);
  return new Map(ratios.map((ratio, n) =>
    [ratio, { ratio, colour: COLOURS[n % COLOURS.length], symbol: SYMBOLS[n % SYMBOLS.length] }]));
}

// Scales in pixels: `quality` and `price` map a value to its position; `value` gives the cost of a row.
function planOf(done, width, cost) {
  const methods = [...new Set(done.map(({ method }) => method))];
  const [unit, value] = COSTS[cost];
  const name = Math.min(150, 16 + 7.2 * Math.max(...methods.map((method) => method.length)));
  const panel = (width - name - GAP - 2 * SIDE) / 2;
  const costs = done.map(value).filter((one) => one !== null);
  const most = cost === "flops" ? 100 : nice(Math.max(...costs, 1e-3));
  const row = 10 + MARK * Math.max(...methods.map((method) => done.filter((one) => one.method === method).length));
  return {
    methods, unit, value, name, panel, most, row, width, height: TOP + row * methods.length + BOTTOM,
    quality: (share) => name + SIDE + share * panel,
    price: (one) => name + SIDE + panel + GAP + (one / most) * panel,
  };
}

function figureOf(done, plan, looks) {
  const { methods, row, width, height, quality, price, most } = plan;
  const words = done.map((one) => `${one.label}: ${shareText(one.quality)}`).join("; ");
  const whole = draw("svg", { class: "gv-picture", viewBox: `0 0 ${width} ${height}`, width, height, role: "img", "aria-label": words });
  for (const share of [0, 0.5, 1]) {
    whole.append(...tick(quality(share), height, `${100 * share} %`),
      ...tick(price(share * most), height, `${Number((share * most).toPrecision(2))}`));
  }
  methods.forEach((method, place) => {
    const middle = TOP + row * (place + 0.5);
    whole.append(draw("text", { x: 0, y: middle + 4, class: "gv-named" }, method));
    const own = done.filter((one) => one.method === method);
    own.forEach((one, n) => {
      const y = middle + (n - (own.length - 1) / 2) * MARK;
      whole.append(...signsOf(one, looks.get(one.ratio) ?? ALL, y, plan));
    });
  });
  return whole;
}

// The marker of a row, with its confidence interval.
function signsOf(one, look, y, { quality, price, value, unit }) {
  const { low, high } = one.quality;
  const spent = value(one);
  return [
    ...(low !== undefined ? [draw("line", { x1: quality(low), x2: quality(high), y1: y, y2: y, stroke: look.colour })] : []),
    sign(one, look, quality(one.quality.value), y, shareText(one.quality)),
    ...(spent !== null ? [sign(one, look, price(spent), y, `${Number(spent.toPrecision(3))} ${unit}`)] : []),
  ];
}

// Headings of the figure's two halves, with a menu for the cost and, if `good` names a quality, one for the quality.
function headsOf({ name, panel }, { cost, good, known }, choose) {
  const quality = good ? menuOf(QUALITIES, good, "Quality", choose) : make("span", "", known ? "right answers" : QUALITIES.words);
  const costs = Object.fromEntries(Object.entries(COSTS).map(([key, [title]]) => [key, title]));
  const heads = make("div", "gv-dots-heads", "", quality, menuOf(costs, cost, "Cost", choose));
  heads.style.paddingLeft = `${name + SIDE}px`;
  heads.style.gridTemplateColumns = `${panel + GAP - 8}px minmax(0, 1fr)`;
  return heads;
}

function legendOf(looks, done) {
  const shown = [...looks.values(), ...(done.some(({ ratio }) => ratio === null) ? [ALL] : [])];
  return make("ul", "gv-dots-legend", "", ...shown.map((look) => {
    const box = draw("svg", { viewBox: "-7 -7 14 14", width: 14, height: 14, "aria-hidden": "true" }, marker(look));
    return make("li", "", "", box, look.ratio === null ? "all tokens" : `${percent(look.ratio).replace(" ", "\u00a0")} kept`);
  }));
}

function sign(row, look, x, y, words) {
  const group = draw("g", { transform: `translate(${x} ${y})` }, marker(look));
  group.append(draw("title", {}, `${row.label}: ${words}`));
  return group;
}

const tick = (x, height, text) => [
  draw("line", { x1: x, x2: x, y1: TOP, y2: height - BOTTOM, class: "gv-grid" }),
  draw("text", { x, y: height - 8, "text-anchor": "middle" }, text),
];

// Round up to 1, 2 or 5 times a power of ten.
function nice(least) {
  const power = 10 ** Math.floor(Math.log10(least));
  return [1, 2, 5, 10].find((factor) => factor * power >= least - 1e-12) * power;
}
