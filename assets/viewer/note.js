// @ts-check
// One line under the timeline, in view wherever the viewer is: why the pinned token was kept or
// dropped, or for a while what a changed setting did. It stands in place of the sentence on the run.

import { button, make } from "./dom.js";

export class Note {
  #lasting = []; // what to show when no news is on
  #timer = 0;

  /** @param {import("./viewer.js").Viewer} viewer */
  constructor(viewer) {
    this.viewer = viewer;
    this.line = viewer.part(".gv-now");
  }

  // About the pinned token; nothing where none is.
  pinned(subject, text) {
    const details = () => this.viewer.pin.panel.scrollIntoView({ block: "end", behavior: "smooth" });
    this.#lasting = text ? [make("b", "", subject), ` ${text} `, button("Details", details, "gv-to")] : [];
    if (!this.#timer) this.#put(this.#lasting);
  }

  // No news any more: another clip is on show.
  quiet() {
    clearTimeout(this.#timer);
    this.#timer = 0;
    this.#put(this.#lasting);
  }

  // For a while.
  news(text, milliseconds) {
    clearTimeout(this.#timer);
    this.#put([text]);
    this.#timer = window.setTimeout(() => this.quiet(), milliseconds);
  }

  #put(nodes) {
    this.line.replaceChildren(...nodes);
    this.line.hidden = !nodes.length;
    this.viewer.root.toggleAttribute("data-noted", nodes.length > 0);
  }
}
