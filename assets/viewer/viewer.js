// @ts-check
// One viewer on the page: its state, and drawing from this state. Two events connect it with the rest of the
// page: "gleanvid:unit" gives the current unit, "gleanvid:pair" the two runs.

import { answerOf } from "./answers.js";
import { Axis } from "./axis.js";
import { Changes } from "./changes.js";
import { total } from "./clock.js";
import { Controls } from "./controls.js";
import { fetchClip, firstFrame, frameAt, nameRuns, nearestFrame, placeOf, sameFrames, sameGrid } from "./data.js";
import { missing } from "./dom.js";
import { Drawing } from "./drawing.js";
import { Edit } from "./edit.js";
import { Film } from "./film.js";
import { Quick } from "./quick.js";
import { shownOf } from "./shown.js";
import { Side } from "./side.js";
import { Strips } from "./strips.js";
import { EMPTY, Telling } from "./telling.js";
import { Pin } from "./token.js";
import { Tried } from "./tried.js";
import { frameWords, openingFrame } from "./words.js";

const OPENING = "Opening the result…";
const GONE = "This result is no longer on the server. Run it again.";

export class Viewer {
  /** @type {import("./data.js").Clip | null} */
  clip = null;
  /** @type {import("./answers.js").Answer[]} */
  answers = [];
  /** @type {string | null} */
  question = null; // text of the question box, once the user has typed in it
  frame = 0;
  kind = "kept";
  a = 0; // indices of the runs shown as A and B
  /** @type {number | null} */
  b = null;
  layer = 0;
  /** @type {string | null} */
  score = null; // name of the score shown
  hovered = -1; // index within its unit of the token under the pointer or the keyboard cursor
  /** @type {"a" | "b"} */
  handled = "a"; // the side of the token hovered or pinned
  word = 0; // word of the answer whose relevance is shown; 0: the whole answer
  pressed = 0; // the word whose relevance is shown while no word is hovered
  outline = true; // whether the objects that the right answer rests on are outlined
  onHalt = () => {}; // called when playing has to end: the clip changed, or the user moved to another time
  onDraw = () => {}; // called after a frame was drawn

  #loads = 0;
  #runs = ""; // ids of the runs shown
  #at = 0; // time in seconds to which the viewer was last moved
  #loading = false;
  #drawing = new Drawing(this);

  /**
   * @param {HTMLElement} element
   * @param {(event: string, detail: object) => void} tellServer
   */
  constructor(element, tellServer) {
    this.element = element;
    this.tellServer = tellServer;
    this.root = /** @type {HTMLElement} */ (element.querySelector(".gv-viewer"));
    this.scrub = /** @type {HTMLInputElement} */ (this.part(".gv-scrub"));
    this.strength = /** @type {HTMLInputElement} */ (this.part(".gv-strength input"));
    this.panes = { a: new Side(this.root, "a"), b: new Side(this.root, "b") };
    this.axis = new Axis();
    this.strips = new Strips(this);
    this.film = new Film(this);
    this.quick = new Quick(this);
    this.controls = new Controls(this);
    this.tried = new Tried(this);
    this.changes = new Changes(this);
    this.pin = new Pin(this);
    this.edit = new Edit(this);
    this.telling = new Telling(this);
  }

  /** @returns {HTMLElement} */
  part(selector) {
    return this.element.querySelector(selector);
  }

  // --- new data from the server ------------------------------------------------------------------

  async load(value) {
    const turn = ++this.#loads;
    this.#sayRuns(value?.runs ?? []);
    this.question = null;
    if (!value || !value.sheet) return this.telling.isLoading ? undefined : this.#clear(EMPTY);
    const before = this.clip;
    if (before?.value.sheet.url === value.sheet.url && before.value.data.url === value.data.url)
      return this.#renew(value);
    this.#loading = true;
    if (!before) this.part(".gv-blank").textContent = OPENING;
    try {
      const clip = await fetchClip(value, before);
      if (turn !== this.#loads) return;
      this.#loading = false;
      this.#begin(clip, before);
    } catch (error) {
      if (turn === this.#loads) this.#clear(GONE);
    }
  }

  #sayRuns(runs) {
    window["gleanvid"]?.keepRuns?.(runs);
    const before = this.#runs;
    this.#runs = runs.join(" ");
    if (this.#loads > 1 && this.#runs !== before) this.tellServer("show", {});
  }

  // Handle a new value with the same files: only the labels and the choice of runs may differ.
  #renew(value) {
    const { value: before } = this.clip;
    const { main } = this.shown();
    this.clip.value = value;
    nameRuns(this.clip.methods, value);
    const moved = ["a", "b", "runs"].some((part) => String(before[part]) !== String(value[part]));
    if (!moved) return this.refresh();
    this.choosePair(value.a, value.b, main);
  }

  // The question in the box changed: mark the answers as stale.
  hearQuestion(text) {
    this.question = text.trim();
    this.loadAnswers(this.answers);
    if (this.clip && !this.#loading) this.controls.describe(this.shown());
    this.redraw();
  }

  loadAnswers(answers) {
    this.answers = answers ?? [];
    if (this.clip && !this.#loading) this.#describeSides(this.shown());
  }

  offer(choices) {
    this.controls.offered = choices ?? [];
    if (this.clip) this.refresh();
  }

  // Another clip was chosen: until it arrives, what is shown is greyed.
  expect(name) {
    if (this.clip && name !== this.clip.value.name) this.telling.load(true);
  }

  giveUp() {
    if (this.telling.isLoading && !this.#loading) this.#clear(EMPTY);
  }

  #clear(text) {
    this.telling.load(false);
    this.clip = null;
    this.#loading = false;
    this.onHalt();
    this.root.dataset.state = "empty";
    this.part(".gv-blank").textContent = text;
  }

  // Keep the current unit and token if only settings changed, and the time if the clip was sampled differently.
  #begin(clip, before) {
    const same = before !== null && (clip.sheet === before.sheet || sameFrames(clip.value, before.value));
    const grid = before?.methods[0].grid;
    const main = same ? this.shown().main : null;
    this.clip = clip;
    if (clip.relevance?.answer !== before?.relevance?.answer) this.word = this.pressed = 0;
    const { a, b } = clip.value;
    if (!same || !sameGrid(grid, clip.methods[0].grid)) this.hovered = this.pin.token = -1;
    this.axis.load(clip.value.seconds);
    this.telling.forget();
    this.telling.load(false);
    this.root.dataset.state = "ready";
    this.root.dataset.clip = clip.value.name;
    if (!same) this.onHalt();
    const isOther = before?.value.name !== clip.value.name;
    if (!same) this.frame = isOther ? 0 : nearestFrame(clip.value.seconds, this.#at);
    this.choosePair(a, b, main);
    if (isOther) this.showFrame(openingFrame(this.shown()));
    this.measure();
  }

  // --- choices -----------------------------------------------------------------------------------

  // Choose the runs shown as A and B, by their place in the list; `b` may be null. `before`: the main side before a
  // change of the settings.
  choosePair(a, b, before = null) {
    const { methods } = this.clip;
    const valid = (index) => Number.isInteger(index) && index >= 0 && index < methods.length;
    this.a = valid(a) ? a : 0;
    this.b = valid(b) ? b : null;
    const chosen = [this.a, this.b].filter((index) => index !== null);
    this.layer = Math.max(...chosen.map((index) => methods[index].first));
    this.changes.compare(before, this.shown().main);
    this.refresh();
  }

  // The state from which all parts of the viewer are drawn.
  shown() {
    return shownOf(this);
  }

  chooseView(kind) {
    if (!this.clip) return;
    if (this.controls.missing(kind)) return this.telling.say(this.controls.missing(kind));
    this.kind = kind;
    if (kind === "ab" && this.b === null) return this.choosePair(this.a, this.a ? 0 : 1);
    this.refresh();
  }

  choose(name, value) {
    if (name === "score") this.score = value;
    if (name === "layer") this.layer = Number(value);
    if (name === "score" || name === "layer") return this.refresh();
    const index = value === "" ? null : Number(value);
    this.edit.undraw();
    // Choosing the run of the other side swaps the sides.
    if (name === "b") this.choosePair(index === this.a && this.b !== null ? this.b : this.a, index);
    else this.choosePair(index, index === this.b ? this.a : this.b);
  }

  // Ids of the runs shown as A and B.
  get pair() {
    const { methods } = this.clip;
    return { a: methods[this.a].id, b: this.b === null ? null : methods[this.b].id };
  }

  // Redraw controls, texts and frames after a change of clip, compressor, layer, score or view.
  refresh() {
    const { controls } = this;
    if (controls.missing(this.kind) || (this.kind === "ab" && this.b === null)) this.kind = "kept";
    const shown = this.shown();
    this.root.dataset.shown = shown.beside ? "pair" : "one";
    controls.describe(shown);
    this.quick.describe();
    this.edit.describe(shown);
    this.#describeSides(shown);
    this.strips.describe(shown);
    this.film.describe(shown);
    this.pin.show(shown);
    this.measure();
    const [a, b = null] = shown.sides.map(({ method }) => method.label);
    document.dispatchEvent(new CustomEvent("gleanvid:pair", { detail: { a, b, source: "viewer" } }));
  }

  #describeSides({ sides }) {
    this.tried.show();
    const found = sides.map(({ key, method }) => answerOf(this.answers, key, method.id, this.question));
    const isTimed = found.every(({ answer }) => !missing(answer?.ttft_s)); // times of one side alone compare nothing
    const longest = Math.max(0, ...found.map(({ answer }) => total(answer?.parts ?? [])));
    sides.forEach((side, index) => {
      const { key } = side;
      const reference = index && !found[0].stale ? found[0].answer : null;
      this.panes[key].describe(side, { ...found[index], longest, isTimed }, reference, this);
    });
  }

  // Show the relevance for a word of the answer, 0 for the whole answer; `press`: keep it until the next press.
  pointAt(word, press = false) {
    this.word = word;
    if (press) this.pressed = word;
    for (const one of this.root.querySelectorAll(".gv-word"))
      one.ariaPressed = String(/** @type {HTMLElement} */ (one).dataset.word === `${this.pressed}`);
    const shown = this.shown();
    this.controls.describe(shown);
    this.strips.describe(shown);
    this.redraw();
  }

  showFrame(next) {
    if (!this.clip) return;
    this.frame = Math.max(0, Math.min(next, this.clip.value.tiles.count - 1));
    this.#at = this.clip.value.seconds[this.frame];
    this.axis.reveal(this.axis.middle(this.frame));
    this.redraw();
  }

  showSecond(second) {
    if (this.clip) this.showFrame(frameAt(this.clip.value.seconds, second));
  }

  // Zoom the time axis around a second, or the current frame.
  zoom(factor, around = this.axis.middle(this.frame)) {
    if (!this.clip) return;
    this.axis.zoom(factor, around);
    this.measure();
  }

  visit(token) {
    this.visitUnit(placeOf(this.shown().own.grid, token).unit);
  }

  visitUnit(unit) {
    this.onHalt();
    this.showFrame(firstFrame(this.shown().main.grid, unit));
    this.sayFrame();
  }

  redraw = () => this.#drawing.redraw();
  measure = () => this.#drawing.measure();

  drawn(shown) {
    this.onDraw();
    this.telling.announce(shown);
  }

  sayFrame() {
    this.telling.say(frameWords(this.shown()));
  }
}
