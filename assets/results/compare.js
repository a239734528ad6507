// @ts-check
// The comparison: a table of answers with a figure of cost against quality below. Choosing a run for a side of the
// viewer sends an event to the document, on which the viewer listens. Text from outside is only ever set as textContent.

import { button, make, openTab } from "../viewer/dom.js";
import { useLine } from "../viewer/relevance.js";
import { dots, matteredOf } from "./dots.js";
import { saveCsv, saveJson } from "./saving.js";
import { Table } from "./table.js";

/**
 * @param {{ element: HTMLElement, props: any, watch: (name: string, act: () => void) => void }} scope
 */
export function mount({ element, props, watch }) {
  const compare = new Compare(element.querySelector(".gv-compare"));
  watch("value", () => compare.load(props.value));
  compare.load(props.value);
}

class Compare {
  /** @type {any} */
  value = null;
  /** @type {Map<string, any>} */
  settings = new Map(); // value of each setting changed since the page was loaded, by its key in a link
  axes = { Cost: "flops", Quality: "words" }; // choices for the figure's axes
  #drawn = 0; // width at which the figure was drawn

  /** @param {HTMLElement} place */
  constructor(place) {
    this.place = place;
    this.head = make("div", "gv-of");
    this.stale = make("p", "gv-old");
    this.tools = make("div", "gv-tools-row");
    this.table = new Table();
    this.rest = make("div", "gv-rest");
    this.where = make("p", "gv-where");
    const hear = (name, act) => document.addEventListener(name, ({ detail }) => act(detail));
    hear("gleanvid:setting", ({ name, value }) => {
      this.settings.set(name, value);
      this.#showStale();
    });
    const mark = ({ a, b, source = "" }) => {
      if (source !== "viewer") return;
      this.table.mark({ a: a ?? null, b: b ?? null });
      this.#showWhere();
    };
    hear("gleanvid:pair", mark);
    this.table.mark({ a: null, b: null, ...window["gleanvid"]?.pair });
    new ResizeObserver(() => {
      if (this.place.clientWidth !== this.#drawn) this.#picture();
    }).observe(place);
  }

  load(value) {
    const before = this.value?.rows ?? [];
    this.value = value?.rows?.length ? value : null;
    if (!this.value) return this.place.replaceChildren();
    this.missing = [...before, ...(this.missing ?? [])].filter(({ label }, place, all) =>
      all.findIndex((one) => one.label === label) === place && this.value.rows.every((row) => row.label !== label));
    this.table.load(this.value, this.value.done ? this.missing : []);
    this.#showTools();
    this.#caption();
    this.place.replaceChildren(this.head, this.stale, this.tools, this.table.place, this.where, this.rest);
    this.#showRest();
    this.#showWhere();
    this.#showStale();
  }

  // --- question, clip and settings of the table --------------------------------------------------

  #caption() {
    const { question, clip, expected, caveat, count } = this.value.asked;
    const title = count > 1 ? `${count} questions` : question ? `“${question}”` : clip;
    const parts = [make("b", "", title), make("span", "", count > 1 ? clip : question ? `one question · ${clip}` : "tokens, no question")];
    if (expected && count === 1) parts.push(make("span", "", `right answer: ${expected}`));
    if (caveat) parts.push(make("span", "gv-worth", caveat));
    this.head.replaceChildren(...parts);
  }

  // Settings that changed since the table was computed: name, value in the table, value on the page.
  #changed() {
    const text = (value) => String(value ?? "");
    return Object.entries(this.value?.asked.settings ?? {})
      .filter(([name, value]) => this.settings.has(name) && text(this.settings.get(name)) !== text(value))
      .map(([name, value]) => [name, text(value), text(this.settings.get(name))]);
  }

  #showStale() {
    const changed = this.value?.done ? this.#changed() : [];
    this.place.toggleAttribute("data-stale", changed.length > 0);
    const told = changed.map(([name, value, now]) => WHOLE[name] ?? `${words(name)} ${value}, now ${now}`);
    this.stale.textContent = told.length ? `This table was made with ${told.join("; ")}. Compare again.` : "";
  }

  // --- tools above the table ---------------------------------------------------------------------

  #showTools() {
    const { rows, done } = this.value;
    const over = rows.filter(({ state }) => state === "done" || state === "failed").length;
    if (!done) {
      const bar = Object.assign(make("progress", ""), { max: rows.length, value: over });
      bar.setAttribute("aria-label", "Finished rows of the comparison");
      return this.tools.replaceChildren(bar, make("span", "", `${over} of ${rows.length} rows done`));
    }
    const save = (title, act) => button(title, () => act(this.value), "gv-plain");
    this.tools.replaceChildren(
      save("Save CSV", saveCsv), save("Save JSON", saveJson), make("span", "gv-times", this.value.asked.busy));
  }

  // Name the two runs that the viewer shows, with a button that opens the viewer's tab.
  #showWhere() {
    const sides = Object.entries(this.table.pair).filter(([, label]) => label);
    this.where.hidden = !sides.length || !this.value?.done;
    if (this.where.hidden) return;
    const named = sides.map(([side, label]) => make("span", "", "", make("b", "", side.toUpperCase()), ` ${label}`));
    this.where.replaceChildren("In the viewer: ", ...named, button("Show their masks", () => openTab("Tokens"), "gv-plain"));
  }

  // --- below the table ---------------------------------------------------------------------------

  #showRest() {
    this.picture = make("div", "gv-scatter");
    const use = this.value.rows.some((row) => matteredOf(row) !== null) ? [useLine()] : [];
    // One question says nothing about quality against cost.
    const picture = this.value.asked.count > 1 ? [this.picture] : [];
    this.rest.replaceChildren(...refused(this.value.rows), ...use, this.table.meanings(), ...picture);
    this.#drawn = 0;
    this.#picture();
  }

  #picture() {
    const width = this.place.clientWidth;
    if (!this.picture?.isConnected || !width) return;
    this.#drawn = width;
    const { rows, asked } = this.value;
    const choose = ({ ariaLabel, value }) => {
      this.axes[ariaLabel] = value;
      this.#picture();
      this.picture.querySelector(`select[aria-label=${ariaLabel}]`).focus();
    };
    this.picture.replaceChildren(...dots(rows, width, asked, this.axes, choose));
  }
}

const WHOLE = { question: "another question", clip: "another clip" };

// The readable name of a setting: "alpha min" for "gleanvid.alpha_min".
function words(name) {
  return name.split(".").pop().replaceAll("_", " ");
}

// Methods that could not be run: each reason once, with all methods that it holds for, and each
// method once, with its first reason. A method that ran at another ratio is named with its ratio.
function refused(rows) {
  /** @type {Map<string, string[]>} */
  const reasons = new Map();
  const ran = new Set(rows.filter(({ state }) => state === "done").map(({ method }) => method));
  const seen = new Set();
  for (const { state, method, label, error } of rows) {
    if (state !== "failed" || seen.has(method)) continue;
    seen.add(method);
    reasons.set(error, [...(reasons.get(error) ?? []), ran.has(method) ? label : method]);
  }
  const lines = [...reasons].map(([reason, methods]) => make("li", "", "", make("b", "", methods.join(", ")), ` ${reason}`));
  return lines.length ? [make("ul", "gv-refusals", "", ...lines)] : [];
}
