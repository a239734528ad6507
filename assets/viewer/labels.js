// @ts-check
// The labels that an image classifier gives a side's tokens; a click on a label goes to the token with the highest
// probability of it.

import { button, make, plural } from "./dom.js";

/** @typedef {{ text: string, kept: boolean, unit: number, box: number[] }} Label */

const DOUBT = "The image classifier is often wrong. Its labels:";
export const NO_LABEL = "No ImageNet label fits this clip.";

export class Labels {
  /** @type {Label | null} */
  marked = null; // the label whose tokens are outlined

  /** @param {import("./viewer.js").Viewer} viewer */
  constructor(viewer) {
    this.viewer = viewer;
  }

  /**
   * The list of labels under a side. A label that the kept tokens no longer have is struck out; a click on it
   * goes to the token, kept or dropped, with the highest probability of it.
   * @param {Label[]} labels
   */
  list(labels) {
    const kept = labels.filter((label) => label.kept).length;
    const count = kept < labels.length ? `${kept} of ${plural(labels.length, "label")}` : plural(kept, "label");
    const items = labels.map((label) => {
      const way = button(label.text, () => this.#visit(label, way));
      const shown = label.kept ? "A kept token has this label" : "No kept token has this label";
      Object.assign(way, { ariaPressed: "false", title: `${shown}: go to unit ${label.unit + 1}` });
      return make("li", "", "", label.kept ? way : make("del", "", "", way));
    });
    const list = Object.assign(make("ul", "", "", ...items), { tabIndex: 0, ariaLabel: "Labels of ImageNet" });
    return make("div", "gv-seen", "", make("p", "", labels.length ? `${count} of ImageNet. ${DOUBT}` : NO_LABEL), list);
  }

  // Go to the token of a label and outline it; a second press removes the outline.
  #visit(label, way) {
    const { viewer } = this;
    this.marked = this.marked === label ? null : label;
    for (const other of viewer.root.querySelectorAll(".gv-seen button"))
      other.ariaPressed = String(this.marked !== null && other === way);
    viewer.controls.describe(viewer.shown());
    if (this.marked) viewer.visitUnit(label.unit);
    viewer.redraw();
  }
}
