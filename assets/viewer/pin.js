// @ts-check
// The pinned token: it stays marked on every frame, and a panel tells about it.

import { mostAlike } from "./data.js";
import { describePin } from "./token.js";

export class Pin {
  token = -1; // in the whole grid; -1: none
  alike = []; // kept tokens most like it

  /** @param {import("./viewer.js").Viewer} viewer */
  constructor(viewer) {
    this.viewer = viewer;
    this.panel = viewer.part(".gv-pin");
  }

  toggle(token) {
    const { viewer } = this;
    this.token = token === this.token ? -1 : token;
    this.show(viewer.shown());
    viewer.redraw();
    viewer.telling.say(this.token < 0 ? "Unpinned." : this.panel.innerText);
  }

  show(shown) {
    const { viewer, panel, token } = this;
    const { clip, own } = shown;
    const known = token >= 0 && clip.sketch && own.shared;
    this.alike = known ? mostAlike(clip, own.stage, token) : [];
    panel.hidden = token < 0;
    if (token < 0) return;
    const unpin = () => { this.toggle(token); viewer.panes[own.key].canvas.focus(); };
    describePin(panel, shown, token, this.alike, (other) => viewer.visit(other), unpin);
  }
}
