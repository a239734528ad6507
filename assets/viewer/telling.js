// @ts-check
// What the viewer tells others: which unit is on show, what screen readers say, what it waits for.

const SETTLED_MS = 250;
const BEHIND = "Compressing…";
export const EMPTY = "The tokens of your clip appear here.";

export class Telling {
  #announced = -1; // the unit that the rest of the page heard of last
  #speech = 0;
  #pending = ""; // what the server says is under way

  /** @param {import("./viewer.js").Viewer} viewer */
  constructor(viewer) {
    this.viewer = viewer;
    document.addEventListener("gleanvid:behind", (/** @type {CustomEvent} */ { detail }) => {
      this.#wait(this.#pending || (detail.isBehind ? BEHIND : ""));
    });
  }

  // What is under way, while the picture is still of the settings before.
  wait(text) {
    this.#pending = text ?? "";
    this.#wait(this.#pending);
    this.viewer.part(".gv-blank").textContent = text || EMPTY;
  }

  #wait(text) {
    this.viewer.root.toggleAttribute("data-pending", Boolean(text));
    this.viewer.part(".gv-pending").textContent = text;
  }

  // Spoken by screen readers once things have settled, never on every frame of a drag.
  say(text) {
    clearTimeout(this.#speech);
    this.#speech = window.setTimeout(() => { this.viewer.part(".gv-live").textContent = text; }, SETTLED_MS);
  }

  // Other parts of the page follow the unit on show, and may move it (see mount.js).
  announce({ clip, frame, main: { unit, grid } }) {
    if (unit === this.#announced) return;
    const moved = this.#announced >= 0;
    this.#announced = unit;
    const { name, seconds } = clip.value;
    const until = seconds[grid.unitOf.lastIndexOf(unit) + 1] ?? Infinity;
    const detail = { unit, seconds: seconds[frame], until, name, moved, source: "viewer" };
    document.dispatchEvent(new CustomEvent("gleanvid:unit", { detail }));
  }

  // A new clip begins: its first unit is no move.
  forget() {
    this.#announced = -1;
  }
}
