// @ts-check
// What an encoder sees: its labels under a side, each a way to where its tokens show it most.

import { button, make, plural } from "./dom.js";

/** @typedef {{ text: string, kept: boolean, unit: number, box: number[] }} Label */

export const NO_LABEL = "No label of ImageNet fits.";

export class Labels {
  /** @type {Label | null} */
  marked = null; // the label whose tokens are outlined

  /** @param {import("./viewer.js").Viewer} viewer */
  constructor(viewer) {
    this.viewer = viewer;
  }

  /**
   * The list under a side. Labels that kept tokens no longer show are struck out, and lead to where
   * all tokens show them.
   * @param {Label[]} labels
   */
  list(labels) {
    const kept = labels.filter((label) => label.kept).length;
    const count = kept < labels.length ? `${kept} of ${plural(labels.length, "label")}` : plural(kept, "label");
    const items = labels.map((label) => {
      const way = button(label.text, () => this.#visit(label, way));
      const shown = label.kept ? "Kept tokens show it" : "Kept tokens no longer show it";
      Object.assign(way, { ariaPressed: "false", title: `${shown}: go to unit ${label.unit + 1}` });
      return make("li", "", "", label.kept ? way : make("del", "", "", way));
    });
    const list = Object.assign(make("ul", "", "", ...items), { tabIndex: 0, ariaLabel: "Labels of ImageNet" });
    return make("div", "gv-seen", "", make("p", "", labels.length ? `${count} of ImageNet:` : NO_LABEL), list);
  }

  // Go to a label and outline its tokens; a second press takes the outline away.
  #visit(label, way) {
    const { viewer } = this;
    this.marked = this.marked === label ? null : label;
    for (const other of viewer.root.querySelectorAll(".gv-seen button"))
      other.ariaPressed = String(this.marked !== null && other === way);
    if (this.marked) viewer.visitUnit(label.unit);
    viewer.redraw();
  }
}
