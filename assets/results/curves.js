// @ts-check
// The legend of all curves, and their connection with the viewer. A method under the pointer, or pressed, is
// highlighted in every curve. Gradio creates a new plot element with every figure, so listeners are added to
// each new element. Text from outside is only ever set as textContent.

import { button, header, make, table } from "../viewer/dom.js";
import { named } from "./swatch.js";
import { folded } from "./table.js";

/** @param {{ element: HTMLElement, props: any, watch: (name: string, act: () => void) => void }} scope */
export function mount({ element, props, watch }) {
  const curves = new Curves(element.querySelector(".gv-key"));
  watch("value", () => curves.load(props.value));
  curves.load(props.value);
}

class Curves {
  /** @type {Set<string>} */
  pressed = new Set(); // labels of the chosen methods
  /** @type {string | null} */
  pointed = null;
  /** @type {number | null} */
  unit = window["gleanvid"]?.unit ?? null;
  rows = [];
  #heard = new WeakSet();

  /** @param {HTMLElement} place */
  constructor(place) {
    this.place = place;
    document.addEventListener("gleanvid:unit", (/** @type {any} */ { detail }) => {
      this.unit = detail.unit ?? this.unit;
      this.plots().forEach((plot) => this.#cursor(plot));
    });
    let queued = false;
    const found = () => {
      queued = false;
      this.plots().forEach((plot) => this.#hear(plot));
    };
    new MutationObserver(() => {
      if (!queued) requestAnimationFrame(found);
      queued = true;
    }).observe(place.closest(".gv-results") ?? document.body, { childList: true, subtree: true });
  }

  /** @returns {any[]} */
  plots() {
    return [...document.querySelectorAll(".gv-curves .js-plotly-plot")];
  }

  // --- the legend --------------------------------------------------------------------------------

  load(value) {
    this.rows = value?.rows ?? [];
    this.pointed = null;
    const known = new Set(this.rows.map(({ label }) => label));
    this.pressed = new Set([...this.pressed].filter((label) => known.has(label)));
    this.place.replaceChildren();
    if (this.rows.length) {
      const rows = make("div", "gv-key-rows", "", this.#table(value.columns));
      Object.assign(rows, { tabIndex: 0, role: "region", ariaLabel: "Legend of the curves" });
      this.place.append(rows, folded("Meaning of the columns", value.columns));
    }
    this.#stress();
  }

  // Leave out columns without any number.
  #table(columns) {
    const told = columns.map((_, place) => this.rows.some(({ cells }) => /\d/.test(cells[place])));
    const heads = columns
      .map(([title, measure, meaning]) => Object.assign(header(title, "col", make("small", "", measure)), { title: meaning }))
      .filter((_, place) => told[place]);
    const why = columns.map(([, , meaning]) => meaning);
    const whole = table("", "", [header("Method"), ...heads], this.rows.map((row) => this.#row(row, told, why)));
    whole.tBodies[0].addEventListener("pointerleave", () => this.#point(null));
    return whole;
  }

  #row(row, told, why) {
    const press = button("", () => this.#press(row.label));
    press.append(...named(row));
    press.title = "Highlight this method in every curve";
    press.dataset.label = row.label;
    press.addEventListener("focus", () => this.#point(press.matches(":focus-visible") ? row.label : null));
    press.addEventListener("blur", () => this.#point(null));
    const cells = row.cells.map((text, place) => Object.assign(make("td", "", text), { title: /\d/.test(text) ? "" : why[place] }));
    const line = make("tr", "", "", header("", "row", press), ...cells.filter((_, place) => told[place]));
    line.addEventListener("pointerenter", () => this.#point(row.label));
    return line;
  }

  #press(label) {
    if (!this.pressed.delete(label)) this.pressed.add(label);
    this.#stress();
  }

  #point(label) {
    this.pointed = label;
    this.#stress();
  }

  // Fade the lines of methods that are not chosen.
  #stress() {
    const chosen = this.pointed ? new Set([this.pointed]) : this.pressed;
    const names = new Set(this.rows.filter(({ label }) => chosen.has(label))
      .flatMap(({ label, method }) => [label, method]));
    const everyone = new Set(this.rows.flatMap(({ label, method }) => [label, method]));
    for (const plot of this.plots())
      for (const trace of plot.querySelectorAll(".trace.scatter")) {
        const name = trace.__data__?.[0]?.trace?.name;
        trace.classList.toggle("gv-back", names.size > 0 && everyone.has(name) && !names.has(name));
      }
    for (const button of this.place.querySelectorAll("button"))
      button.setAttribute("aria-pressed", String(this.pressed.has(button.dataset.label)));
  }

  // --- the viewer --------------------------------------------------------------------------------

  #hear(plot) {
    if (this.#heard.has(plot) || !plot.on) return;
    this.#heard.add(plot);
    const linked = plot.closest(".gv-linked");
    if (linked) plot.on("plotly_hover", ({ points }) => this.#move(Math.round(points[0].x) - 1));
    plot.on("plotly_afterplot", () => {
      this.#cursor(plot);
      this.#stress();
    });
    this.#cursor(plot);
    this.#stress();
  }

  #move(unit) {
    if (unit === this.unit) return;
    const detail = { unit, source: "curves" };
    document.dispatchEvent(new CustomEvent("gleanvid:unit", { detail }));
  }

  // Mark the viewer's current unit with a vertical line in every curve over units.
  #cursor(plot) {
    const { xaxis: axis, _size: size } = plot._fullLayout ?? {};
    if (!axis || !size || this.unit === null || !plot.closest(".gv-linked")) return;
    let line = plot.querySelector(":scope > .gv-cursor");
    if (!line) plot.append((line = make("div", "gv-cursor")));
    const [low, high] = axis.range;
    const inside = this.unit + 1 >= low && this.unit + 1 <= high;
    Object.assign(line.style, {
      display: inside ? "block" : "none",
      left: `${axis._offset + axis.l2p(this.unit + 1)}px`,
      top: `${size.t}px`,
      height: `${size.h}px`,
    });
  }
}
