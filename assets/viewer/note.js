// @ts-check
// One line under the timeline, which stays visible: why the pinned token was kept or dropped. It replaces the sentence
// on the run.

import { button, make } from "./dom.js";

export class Note {
  /** @param {import("./viewer.js").Viewer} viewer */
  constructor(viewer) {
    this.viewer = viewer;
    this.line = viewer.part(".gv-now");
  }

  // Show a note on the pinned token, or nothing if no token is pinned.
  pinned(subject, text) {
    const details = () => this.viewer.pin.panel.scrollIntoView({ block: "end", behavior: "smooth" });
    const nodes = text ? [make("b", "", subject), ` ${text} `, button("Details", details, "gv-to")] : [];
    this.line.replaceChildren(...nodes);
    this.line.hidden = !nodes.length;
    this.viewer.root.toggleAttribute("data-noted", nodes.length > 0);
  }
}
