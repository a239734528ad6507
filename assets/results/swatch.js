// @ts-check
// A method's style in every figure and legend: a piece of its line with its marker on it.

import { make } from "../viewer/dom.js";

const SVG = "http://www.w3.org/2000/svg";
const DASHES = { solid: "", dash: "6 3", dot: "2 2", dashdot: "6 2 2 2" };
const SYMBOLS = {
  circle: "M4 0A4 4 0 1 1 -4 0A4 4 0 1 1 4 0Z",
  square: "M-3.6 -3.6H3.6V3.6H-3.6Z",
  diamond: "M0 -5L5 0L0 5L-5 0Z",
  "triangle-up": "M0 -4.8L4.6 3.4H-4.6Z",
  "triangle-down": "M0 4.8L4.6 -3.4H-4.6Z",
  x: "M-4.4 -2.4L-2.4 -4.4L0 -2L2.4 -4.4L4.4 -2.4L2 0L4.4 2.4L2.4 4.4L0 2L-2.4 4.4L-4.4 2.4L-2 0Z",
  cross: "M-1.5 -4.6H1.5V-1.5H4.6V1.5H1.5V4.6H-1.5V1.5H-4.6V-1.5H-1.5Z",
};

/**
 * @param {string} kind
 * @param {Record<string, string | number>} given  attributes of the element
 * @returns {SVGElement}
 */
export function draw(kind, given, ...children) {
  const node = document.createElementNS(SVG, kind);
  for (const [name, value] of Object.entries(given)) node.setAttribute(name, `${value}`);
  node.append(...children);
  return node;
}

/** A marker centred at (0, 0). `hollow`: only its outline. @param {{ colour: string, symbol: string }} look */
export function marker({ colour, symbol }, hollow = symbol.endsWith("-open")) {
  const d = SYMBOLS[symbol.replace("-open", "")] ?? SYMBOLS.circle;
  const fill = hollow ? "var(--body-background-fill)" : colour;
  return draw("path", { d, style: `fill:${fill};stroke:${colour};stroke-width:1.5` });
}

/** @param {{ colour: string, dash: string, symbol: string }} look */
export function swatch(look) {
  const { colour, dash } = look;
  const style = `fill:none;stroke:${colour};stroke-width:2;stroke-dasharray:${DASHES[dash] || "none"}`;
  const sign = draw("g", { transform: "translate(15 7)" }, marker(look));
  const whole = draw("svg", { viewBox: "0 0 30 14", width: 30, height: 14, "aria-hidden": "true" });
  whole.append(draw("polyline", { points: "0,7 30,7", style }), sign);
  return whole;
}

/** A method's swatch and its name. */
export const named = (row) => [swatch(row), make("span", "", row.label.replace(" %", "\u00a0%"))];
