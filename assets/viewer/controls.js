// @ts-check
// The controls under the frames, and the texts about the runs and the view that are shown.

import { layersOf } from "./data.js";
import { make, openTab, timeText } from "./dom.js";
import { frameWords, legend, momentWords, moment, whatIsShown } from "./words.js";

export const KINDS = ["kept", "heat", "relevance", "ab", "groups", "original"];
const OPTIONAL = "groups"; // the view that is hidden when it has nothing to show

export class Controls {
  /** Compressors without a run yet, which Python can run on request: (name, title). */
  offered = [];

  /** @param {import("./viewer.js").Viewer} viewer */
  constructor(viewer) {
    this.viewer = viewer;
    for (const input of viewer.root.querySelectorAll("input[name=gv-view]"))
      input.addEventListener("input", () => viewer.chooseView(/** @type {any} */ (input).value));
    for (const name of ["a", "b", "layer", "score"])
      this.pick(name).addEventListener("change", () => this.#picked(name, this.pick(name).value));
    viewer.strength.addEventListener("input", () => viewer.redraw());
    this.#act("swap", () => this.#swap());
    this.#act("pin", () => this.#pinB());
    this.#act("measure", () => viewer.tellServer("measure", {}));
    this.#act("save", () => openTab("Export and API", ".gv-files"));
    this.#act("truth", () => this.#toggleTruth());
    for (const [name, factor] of Object.entries({ in: 2, out: 0.5 }))
      this.#part(`[data-zoom=${name}]`).addEventListener("click", () => viewer.zoom(factor));
    this.#part(".gv-moment button").addEventListener("click", () => this.#showMoment());
  }

  /** @returns {any} */
  #part(selector) {
    return this.viewer.element.querySelector(selector);
  }

  /** @returns {HTMLSelectElement} */
  pick(name) {
    return this.#part(`[data-pick=${name}] select`);
  }

  #act(name, act) {
    this.#part(`[data-act=${name}]`).addEventListener("click", () => { if (this.viewer.clip) act(); });
  }

  // --- choices of the user -----------------------------------------------------------------------

  // Choose a run by its place in the list, or a compressor without a run by its name.
  #picked(name, value) {
    const { viewer } = this;
    const side = name === "a" || name === "b";
    if (side && value.startsWith("run:")) {
      viewer.refresh(); // reset the menu: the run can be shown once Python has computed it
      return viewer.tellServer("method", { side: name, name: value.slice(4) });
    }
    viewer.choose(name, value);
    if (side) viewer.tellServer("pair", viewer.pair);
  }

  #swap() {
    const { viewer } = this;
    if (viewer.b === null) return;
    viewer.edit.undraw();
    viewer.choosePair(viewer.b, viewer.a);
    viewer.tellServer("swap", viewer.pair);
  }

  #pinB() {
    const { viewer } = this;
    if (viewer.b === null) return;
    const wasSame = viewer.a === viewer.b;
    viewer.choosePair(viewer.b, viewer.b);
    viewer.telling.say(momentWords(viewer.shown()));
    if (!wasSame) viewer.tellServer("pin", viewer.pair);
  }

  #toggleTruth() {
    const { viewer } = this;
    viewer.outline = !viewer.outline;
    this.#part("[data-act=truth]").setAttribute("aria-pressed", String(viewer.outline));
    this.describe(viewer.shown());
    viewer.redraw();
  }

  #showMoment() {
    const found = moment(this.viewer.shown());
    if (found) this.viewer.visitUnit(found.unit);
  }

  // Return why a view has nothing to show, or "" if it can be shown.
  missing(kind) {
    const { viewer } = this;
    const { sides, comparable } = viewer.shown();
    if (kind === "heat" && !sides.some(({ score }) => score)) return "Scores: this compressor gives none.";
    if (kind === "relevance" && !viewer.clip.relevance) return viewer.clip.value.unmeasured ?? "";
    if (kind === "ab" && viewer.clip.methods.length < 2) return "A/B: choose a compressor for B.";
    if (kind === "ab" && sides.length > 1 && !comparable) return "A/B: the token grids differ.";
    if (kind === "groups" && !sides.some(({ stage }) => stage.merges))
      return "This compressor merges nothing: it keeps tokens or drops them.";
    return "";
  }

  // --- texts of the controls ---------------------------------------------------------------------

  // The options of the menu at the title of a side: [value, text].
  #choices(key, { methods }) {
    const runs = methods.map((method, index) => [index, method.label]);
    const none = key === "b" ? [["", "none"]] : [];
    return [...none, ...runs, ...this.offered.map(([name, title]) => [`run:${name}`, `Run ${title}`])];
  }

  describe(shown) {
    const { clip, main, beside, sides, layer, kind } = shown;
    const missing = []; // reasons why views are hidden
    for (const name of KINDS) {
      const radio = this.#part(`input[value=${name}]`);
      const problem = this.missing(name);
      Object.assign(radio, { checked: name === kind, disabled: Boolean(problem) });
      radio.parentElement.hidden = name === OPTIONAL && Boolean(problem);
      if (problem && name !== OPTIONAL) missing.push(problem);
    }
    const layers = layersOf(sides.map(({ method }) => method))
      .map((at) => [at, at ? `before layer ${at}` : "entering the model"]);
    this.#fill("layer", layers, layers.findLast(([at]) => at <= layer)[0], layers.length > 1);
    const scores = [...new Map(sides.flatMap(({ stage }) => stage.scores.map(({ name, label }) => [name, label])))];
    const score = scores.find(([name]) => name === this.viewer.score) ?? scores[0];
    this.#fill("score", scores, score?.[0], kind === "heat" && scores.length > 1);
    const pair = sides.length > 1;
    this.#part("[data-act=swap]").hidden = this.#part("[data-act=pin]").hidden = !pair;
    this.#part("[data-act=truth]").hidden = !shown.truth;
    this.#part("[data-act=measure]").hidden = kind !== "relevance" || Boolean(clip.relevance);
    this.#part(".gv-strength").hidden = kind === "original";
    this.#part(".gv-what").textContent = whatIsShown(shown);
    this.#part(".gv-legend").replaceChildren(...legend(shown, missing));
    const words = momentWords(shown);
    this.#part(".gv-moment").hidden = !words;
    const isSame = beside?.place === main.place;
    Object.assign(this.#part(".gv-moment button"), { textContent: words, disabled: isSame || !moment(shown) });
    this.#part("[data-act=pin]").setAttribute("aria-disabled", String(isSame));
    const { a, b } = this.viewer;
    this.#fill("a", this.#choices("a", clip), a, true);
    this.#fill("b", this.#choices("b", clip), b ?? "", clip.methods.length > 1 || this.offered.length > 0);
    for (const side of ["a", "b"]) this.#nameSide(side);
  }

  // Write the title of a side. The menu in front of the title is transparent.
  #nameSide(side) {
    const menu = this.pick(side);
    const text = menu.selectedOptions[0]?.textContent ?? "";
    this.#part(`[data-pick=${side}] .gv-title`).textContent = text;
    menu.title = text;
  }

  #fill(name, options, chosen, useful) {
    const select = this.pick(name);
    select.replaceChildren(...options.map(([value, text]) => new Option(text, value)));
    select.value = chosen;
    select.parentElement.hidden = !useful;
  }

  // Show which frame is the current one: caption, time, unit and position of the scrubber.
  showPlace(shown) {
    const { clip, frame, main: { unit, grid } } = shown;
    const words = frameWords(shown);
    this.#part(".gv-caption").textContent = words;
    this.#part(".gv-clock b").textContent = timeText(clip.value.seconds[frame]);
    this.#part(".gv-clock small").textContent = `unit ${unit + 1} of ${grid.units}`;
    const { scrub, axis } = this.viewer;
    Object.assign(scrub, { min: axis.from, max: axis.to, value: axis.middle(frame) });
    scrub.setAttribute("aria-valuetext", words);
    this.#part(".gv-ticks").replaceChildren(...axis.ticks(scrub.clientWidth).map(([second, text]) => {
      const tick = make("span", "", text);
      tick.style.left = `${100 * axis.share(second)}%`;
      return tick;
    }));
    for (const zoom of ["in", "out"]) this.#part(`[data-zoom=${zoom}]`).disabled = zoom === "out" && axis.isWhole;
  }
}
