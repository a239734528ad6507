// @ts-check
// One line under the timeline, which stays visible: why the pinned token was kept or dropped, or for a few
// seconds the effect of a changed setting. It replaces the sentence on the run.

import { button, make } from "./dom.js";

export class Note {
  #lasting = []; // the note shown while there is no temporary message
  #timer = 0;

  /** @param {import("./viewer.js").Viewer} viewer */
  constructor(viewer) {
    this.viewer = viewer;
    this.line = viewer.part(".gv-now");
  }

  // Show a note on the pinned token, or nothing if no token is pinned.
  pinned(subject, text) {
    const details = () => this.viewer.pin.panel.scrollIntoView({ block: "end", behavior: "smooth" });
    this.#lasting = text ? [make("b", "", subject), ` ${text} `, button("Details", details, "gv-to")] : [];
    if (!this.#timer) this.#put(this.#lasting);
  }

  // Replace the temporary message by the lasting note: its time is over, or the clip changed.
  quiet() {
    clearTimeout(this.#timer);
    this.#timer = 0;
    this.#put(this.#lasting);
  }

  // Show a message for a few seconds.
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
