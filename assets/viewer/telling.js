// @ts-check
// Messages of the viewer: the current unit for the page, texts for screen readers, running work of the server.

const SETTLED_MS = 250;
const BEHIND = "Compressing…";
const LOADING = "Loading…";
export const EMPTY = "The tokens of your clip appear here.";

export class Telling {
  #announced = -1; // the unit last announced to the rest of the page
  #speech = 0;
  #pending = ""; // what the server is working on, as a sentence

  /** @param {import("./viewer.js").Viewer} viewer */
  constructor(viewer) {
    this.viewer = viewer;
    document.addEventListener("gleanvid:behind", (/** @type {CustomEvent} */ { detail }) => {
      this.#wait(this.#pending || (detail.isBehind ? BEHIND : ""));
    });
  }

  // Show what the server is working on while the frames still show the previous settings.
  wait(text) {
    const isOver = this.#pending && !text;
    this.#pending = text ?? "";
    this.viewer.part(".gv-blank").textContent = text || EMPTY;
    if (isOver && this.isLoading) setTimeout(() => this.viewer.giveUp(), SETTLED_MS); // if the chosen clip did not come
    this.#wait(this.#pending);
  }

  // Whether the viewer still shows another clip than the chosen one.
  get isLoading() {
    return this.viewer.root.hasAttribute("data-loading");
  }

  load(isLoading) {
    this.viewer.root.toggleAttribute("data-loading", isLoading);
    this.#wait(this.#pending);
  }

  #wait(words) {
    const text = words || (this.isLoading ? LOADING : "");
    this.viewer.root.toggleAttribute("data-pending", Boolean(text));
    this.viewer.part(".gv-pending").textContent = text;
  }

  // Give a text to screen readers once no newer text has come for a moment: a drag makes a text at every frame.
  say(text) {
    clearTimeout(this.#speech);
    this.#speech = window.setTimeout(() => { this.viewer.part(".gv-live").textContent = text; }, SETTLED_MS);
  }

  // Tell other parts of the page the current unit; they may also change it (see mount.js).
  announce({ clip, main: { unit } }) {
    if (unit === this.#announced) return;
    this.#announced = unit;
    const detail = { unit, name: clip.value.name, source: "viewer" };
    document.dispatchEvent(new CustomEvent("gleanvid:unit", { detail }));
  }

  // Called for a new clip, so that its first unit is announced, whichever it is.
  forget() {
    this.#announced = -1;
  }
}
