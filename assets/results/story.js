// @ts-check
// A run explained in five steps, with text, numbers, small frames and strips of its units. Text from outside
// is only ever set as textContent.

import { make } from "../viewer/dom.js";
import { fitCanvas } from "../viewer/paint.js";
import { paintStrip, topOf } from "../viewer/bars.js";

const COLOURS = ["accent", "bar", "track", "axis", "even", "ground", "ink"];

/** @param {{ element: HTMLElement, props: any, watch: (name: string, act: () => void) => void }} scope */
export function mount({ element, props, watch }) {
  const place = element.querySelector(".gv-story");
  let strips = [];
  const draw = () => strips.forEach(([canvas, strip]) => drawStrip(canvas, strip));
  const show = () => {
    if (!props.value) return;
    strips = [];
    const { about, steps } = props.value;
    place.replaceChildren(make("p", "gv-hint", about), make("ol", "", "", ...steps.map((step) => stepOf(step, strips))));
    draw();
  };
  new ResizeObserver(draw).observe(place);
  new MutationObserver(draw).observe(document.body, { attributes: true, attributeFilter: ["class"] });
  watch("value", show);
  show();
}

function stepOf({ title, text, figures, pictures, grid, strip }, strips) {
  const seen = pictures.map(([caption, source]) => pictureOf(caption, source, grid));
  if (strip) seen.push(stripOf(strip, strips));
  return make("li", "", "",
    make("div", "", "", make("h3", "", title), make("p", "", text), make("p", "gv-figures", figures)),
    make("div", "gv-seen", "", ...seen));
}

function pictureOf(caption, source, grid) {
  const frame = make("span", "gv-small", "", Object.assign(make("img"), { src: source, alt: caption }));
  if (grid) {
    const lines = make("i");
    lines.style.backgroundSize = `${100 / grid[1]}% ${100 / grid[0]}%`;
    frame.append(lines);
  }
  return make("figure", "", "", frame, make("figcaption", "", caption));
}

function stripOf(strip, strips) {
  const canvas = make("canvas");
  Object.assign(canvas, { role: "img", ariaLabel: strip.label });
  strips.push([canvas, strip]);
  return make("figure", "gv-units", "", canvas, make("figcaption", "", `${strip.label}; ${strip.note}`));
}

function drawStrip(canvas, { values, even, unit }) {
  const [width, height] = [canvas.clientWidth, canvas.clientHeight];
  if (!width) return;
  const style = getComputedStyle(canvas);
  const colours = Object.fromEntries(COLOURS.map((name) => [name, style.getPropertyValue(`--gv-${name}`).trim()]));
  const isBudget = even !== null;
  paintStrip(fitCanvas(canvas, width, height), width, height, {
    own: values, edges: [...values, 0].map((_, index) => index * width / values.length), even, unit,
    scale: (value) => value, words: String, top: Math.max(topOf(values, isBudget), (even ?? 0) * 1.3),
  }, colours);
}
