// @ts-check
// One viewer on the page: its state and everything that is drawn from it. Hands on it are in
// hands.js. Two events connect it with the rest of the page: "gleanvid:unit" says which unit is on
// show, "gleanvid:pair" which compressors are.

import { firstFrame, layersOf, mostAlike, placeOf, stageAt, unpackClip } from "./data.js";
import { LOOKS } from "./looks.js";
import { fitCanvas, paintDisc, paintFrame, paintRing } from "./paint.js";
import { Strips } from "./strips.js";
import { describePin } from "./token.js";
import { describeView, frameWords } from "./words.js";

export const KINDS = ["kept", "heat", "outline", "ab", "groups", "original"];
const COLOURS = ["kept", "b", "novelty", "rank", "cursor", "track", "axis", "even", "ground"];
const EMPTY = "The tokens of your clip appear here.";
const GONE = "This result is no longer on the server. Run it again.";

async function fetched(file) {
  const reply = await fetch(file.url);
  if (!reply.ok) throw new Error(`${reply.status}`);
  return reply;
}

export class Viewer {
  /** @type {import("./data.js").Clip | null} */
  clip = null;
  frame = 0;
  kind = "kept";
  a = 0; // places of the compressors on show in the clip's list
  /** @type {number | null} */
  b = null;
  layer = 0;
  /** @type {string | null} */
  score = null; // name of the score on show
  hovered = -1; // place in the unit of the token under the pointer or the keyboard
  pinned = -1; // token in the whole grid
  alike = []; // kept tokens most like the pinned one
  onHalt = () => {}; // playing ends: the clip changes

  #loads = 0;
  #queued = false;
  #announced = -1; // the unit that the rest of the page heard of last
  #colours = {};
  #size = [0, 0];
  #speech = 0;

  /** @param {HTMLElement} element */
  constructor(element) {
    this.element = element;
    this.root = this.#part(".gv-viewer");
    this.stage = this.#part(".gv-stage");
    this.canvas = /** @type {HTMLCanvasElement} */ (this.#part(".gv-frame"));
    this.scrub = /** @type {HTMLInputElement} */ (this.#part(".gv-scrub"));
    this.strength = /** @type {HTMLInputElement} */ (this.#part(".gv-strength input"));
    this.strips = new Strips(this.root);
  }

  /** @returns {HTMLElement} */
  #part(selector) {
    return this.element.querySelector(selector);
  }

  /** @returns {HTMLSelectElement} */
  pick(name) {
    return this.element.querySelector(`[data-pick=${name}] select`);
  }

  // --- a result comes ----------------------------------------------------------------------------

  async load(value) {
    window["gvKeep"]?.("shown", value?.runs ?? []);
    const turn = ++this.#loads;
    if (!value || !value.sheet) return this.#clear(EMPTY);
    const before = this.clip;
    const same = before?.value.sheet.url === value.sheet.url;
    if (same && before.value.data.url === value.data.url) {
      const asked = before.value.a !== value.a || before.value.b !== value.b;
      before.value = value;
      return asked ? this.choosePair(value.a, value.b) : undefined;
    }
    try {
      const [sheet, data] = await Promise.all([
        same ? before.sheet : fetched(value.sheet).then((r) => r.blob()).then((b) => createImageBitmap(b)),
        fetched(value.data).then((reply) => reply.arrayBuffer()),
      ]);
      if (turn !== this.#loads) return;
      const clip = { ...unpackClip(value, data), sheet };
      this.#begin(clip, same && `${before.value.grid}` === `${value.grid}`);
    } catch (error) {
      if (turn === this.#loads) this.#clear(GONE);
    }
  }

  #clear(text) {
    this.clip = null;
    this.onHalt();
    this.root.dataset.state = "empty";
    this.#part(".gv-blank").textContent = text;
  }

  // What was looked at stays in place where it is the same clip under other settings.
  #begin(clip, same) {
    this.clip = clip;
    const { tiles, a, b } = clip.value;
    if (!same) {
      this.onHalt();
      Object.assign(this, { frame: Math.floor(tiles.count / 2), hovered: -1, pinned: -1 });
    }
    this.scrub.max = `${tiles.count - 1}`;
    this.#announced = -1;
    this.root.dataset.state = "ready";
    this.choosePair(a, b);
    this.measure();
  }

  // --- what is chosen ----------------------------------------------------------------------------

  // Choose the compressors on show, by place in the list; `b` may be null.
  choosePair(a, b) {
    const { methods } = this.clip;
    const valid = (index) => Number.isInteger(index) && index >= 0 && index < methods.length;
    this.a = valid(a) ? a : 0;
    this.b = valid(b) && b !== this.a ? b : null;
    const chosen = [this.a, this.b].filter((index) => index !== null);
    this.layer = Math.max(...chosen.map((index) => methods[index].first));
    this.refresh();
  }

  // What everything on the page is drawn from: the state with the stages it points at.
  shown() {
    const { clip, frame } = this;
    const [methodA, methodB] = [clip.methods[this.a], clip.methods[this.b] ?? null];
    const a = stageAt(methodA, this.layer);
    const unit = clip.value.units[frame];
    const first = unit * clip.perUnit;
    return {
      clip, frame, unit, first, methodA, methodB, a,
      kind: this.kind,
      layer: this.layer,
      b: methodB && stageAt(methodB, this.layer),
      score: a.scores.find((score) => score.name === this.score) ?? a.scores[0] ?? null,
      strength: Number(this.strength.value) / 100,
      focus: this.hovered >= 0 ? first + this.hovered : this.pinned,
    };
  }

  // Why a view has nothing to show, or "".
  missing(kind) {
    const { a } = this.shown();
    if (kind === "heat" && !a.scores.length) return "This compressor gives its tokens no score.";
    if (kind === "ab" && this.clip.methods.length < 2) return "A/B needs a second compressor: run Compare.";
    if (kind === "groups" && !a.merges) return "This compressor merges nothing: it keeps tokens or drops them.";
    return "";
  }

  chooseView(kind) {
    if (!this.clip) return;
    const problem = this.missing(kind);
    if (problem) return this.say(problem);
    this.kind = kind;
    if (kind === "ab" && this.b === null) return this.choosePair(this.a, this.a ? 0 : 1);
    this.refresh();
  }

  choose(name, value) {
    if (name === "score") this.score = value;
    if (name === "layer") this.layer = Number(value);
    if (name === "score" || name === "layer") return this.refresh();
    const index = value === "" ? null : Number(value);
    // A choice that the other side has makes them swap.
    if (name === "b") this.choosePair(index === this.a && this.b !== null ? this.b : this.a, index);
    else this.choosePair(index, index === this.b ? this.a : this.b);
  }

  // After a change of clip, compressor, layer, score or view: controls, words, picture.
  refresh() {
    if (this.missing(this.kind) || (this.kind === "ab" && this.b === null)) this.kind = "kept";
    for (const kind of KINDS) {
      const radio = this.#part(`input[value=${kind}]`);
      Object.assign(radio, { checked: kind === this.kind, disabled: Boolean(this.missing(kind)) });
      radio.parentElement.title = this.missing(kind);
    }
    const shown = this.shown();
    this.root.dataset.shown = shown.b ? "pair" : "one";
    this.#fillPicks(shown);
    describeView(this.root, shown);
    this.strips.describe(shown);
    this.#showPin(shown);
    this.redraw();
    const pair = { a: shown.methodA.label, b: shown.methodB?.label ?? null, source: "viewer" };
    document.dispatchEvent(new CustomEvent("gleanvid:pair", { detail: pair }));
  }

  #fillPicks({ clip, methodA, methodB, a, score }) {
    const methods = clip.methods.map((method, index) => [index, method.label]);
    const others = methods.filter(([index]) => index !== this.a);
    this.#fill("a", methods, this.a, true);
    this.#fill("b", [["", "none"], ...others], this.b ?? "", methods.length > 1);
    const layers = layersOf([methodA, methodB].filter(Boolean))
      .map((layer) => [layer, layer ? `before layer ${layer}` : "entering the model"]);
    const chosen = layers.findLast(([layer]) => layer <= this.layer)[0];
    this.#fill("layer", layers, chosen, layers.length > 1);
    const scores = a.scores.map(({ name, label }) => [name, label]);
    this.#fill("score", scores, score?.name, this.kind === "heat" && a.scores.length > 1);
  }

  #fill(name, options, chosen, useful) {
    const select = this.pick(name);
    select.replaceChildren(...options.map(([value, text]) => new Option(text, value)));
    select.value = chosen;
    select.parentElement.hidden = !useful;
  }

  showFrame(next) {
    if (!this.clip) return;
    this.frame = Math.max(0, Math.min(next, this.clip.value.tiles.count - 1));
    this.redraw();
  }

  visit(token) {
    this.onHalt();
    this.showFrame(firstFrame(this.clip, placeOf(this.clip, token).unit));
    this.sayFrame();
  }

  pin(token) {
    this.pinned = token === this.pinned ? -1 : token;
    this.#showPin(this.shown());
    this.redraw();
    this.say(this.pinned < 0 ? "Unpinned." : this.#part(".gv-pin").innerText);
  }

  #showPin(shown) {
    const { clip, a } = shown;
    const { pinned } = this;
    this.alike = pinned >= 0 && clip.sketch ? mostAlike(clip, a, pinned) : [];
    const panel = this.#part(".gv-pin");
    panel.hidden = pinned < 0;
    if (pinned < 0) return;
    const unpin = () => { this.pin(pinned); this.canvas.focus(); };
    describePin(panel, shown, pinned, this.alike, (token) => this.visit(token), unpin);
  }

  // --- drawing -----------------------------------------------------------------------------------

  redraw() {
    if (this.#queued || !this.clip) return;
    this.#queued = true;
    requestAnimationFrame(() => {
      this.#queued = false;
      if (this.clip && this.element.isConnected && this.#size[0]) this.#draw();
    });
  }

  // Sizes and colours are read when they change, not while drawing.
  measure() {
    const style = getComputedStyle(this.root);
    for (const name of COLOURS) this.#colours[name] = style.getPropertyValue(`--gv-${name}`).trim();
    this.root.dataset.width = this.stage.clientWidth < 520 ? "narrow" : "wide";
    if (!this.clip) return;
    const { width, height } = this.clip.value.tiles;
    const tallest = Math.max(220, Math.min(440, window.innerHeight * 0.42));
    const scale = Math.min(this.stage.clientWidth / width, tallest / height);
    this.#size = [Math.round(width * scale), Math.round(height * scale)];
    const [wide, tall] = this.#size;
    Object.assign(this.canvas.style, { width: `${wide}px`, height: `${tall}px` });
    this.strips.measure();
    this.redraw();
  }

  // Where the tokens lie on the frame, in page pixels.
  gridBox() {
    const { rows, columns } = this.clip;
    const [left, top, right, bottom] = this.clip.value.area;
    const [wide, tall] = this.#size;
    return {
      rows, columns, left: left * wide, top: top * tall,
      width: (right - left) * wide, height: (bottom - top) * tall,
    };
  }

  #draw() {
    const shown = this.shown();
    const { sheet, value } = this.clip;
    const [wide, tall] = this.#size;
    const context = fitCanvas(this.canvas, wide, tall);
    paintFrame(context, sheet, value.tiles, this.frame, wide, tall);
    const grid = this.gridBox();
    LOOKS[this.kind](context, grid, shown, this.#colours);
    context.globalAlpha = 1;
    this.#paintMarks(context, grid, shown);
    this.strips.draw(shown.unit, this.#colours);
    const caption = this.#part(".gv-caption");
    caption.textContent = frameWords(shown);
    this.scrub.value = `${this.frame}`;
    this.scrub.setAttribute("aria-valuetext", caption.textContent);
    this.#announce(shown);
  }

  #paintMarks(context, grid, { clip, unit, first }) {
    this.alike.forEach(({ token }, index) => {
      if (placeOf(clip, token).unit === unit) paintDisc(context, grid, token - first, `${index + 1}`);
    });
    if (this.pinned >= 0) {
      const here = placeOf(clip, this.pinned).unit === unit;
      paintRing(context, grid, this.pinned % clip.perUnit, "#ff7a33", here ? [] : [4, 3]);
    }
    if (this.hovered >= 0) paintRing(context, grid, this.hovered);
  }

  // Other parts of the page follow the unit on show, and may move it (see hands.js).
  #announce({ clip, unit, frame }) {
    if (unit === this.#announced) return;
    const moved = this.#announced >= 0;
    this.#announced = unit;
    const { name, seconds, units } = clip.value;
    const until = seconds[units.lastIndexOf(unit) + 1] ?? Infinity;
    const detail = { unit, seconds: seconds[frame], until, name, moved, source: "viewer" };
    document.dispatchEvent(new CustomEvent("gleanvid:unit", { detail }));
  }

  // Spoken by screen readers once things have settled, never on every frame of a drag.
  say(text) {
    clearTimeout(this.#speech);
    this.#speech = window.setTimeout(() => { this.#part(".gv-live").textContent = text; }, 250);
  }

  sayFrame() {
    this.say(frameWords(this.shown()));
  }
}
