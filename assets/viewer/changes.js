// @ts-check
// The effect of a changed setting: tokens that were added or removed are marked for a moment, and counted.

import { sameGrid } from "./data.js";
import { plural } from "./dom.js";

const MARKED_MS = 2000;
const SAID_MS = 6000;

export class Changes {
  /** @type {Int8Array | null} */
  marks = null; // change of each token: 1 added, -1 removed
  #timer = 0;

  /** @param {import("./viewer.js").Viewer} viewer */
  constructor(viewer) {
    this.viewer = viewer;
  }

  // `before`, `now`: the side B, or the only side, before and after a change of the settings.
  compare(before, now) {
    if (before?.method.id === now.method.id) return;
    clearTimeout(this.#timer);
    this.marks = null;
    if (now.method.name === "by_hand") return; // drawn when the user made the edit
    if (before?.method.name !== now.method.name || before.stage.layer !== now.stage.layer) return;
    if (!sameGrid(before.grid, now.grid)) return;
    this.marks = Int8Array.from(now.stage.kept, (kept, token) => kept - before.stage.kept[token]);
    if (before.method.label === now.method.label && !this.marks.some(Boolean)) return; // only the question was asked again
    const text = `${now.name ? `${now.name}: ` : ""}${changeWords(this.marks, now.evidence)}`;
    this.viewer.note.news(text, SAID_MS);
    this.viewer.telling.say(text);
    this.#timer = window.setTimeout(() => {
      this.marks = null;
      this.viewer.redraw();
    }, MARKED_MS);
  }
}

function changeWords(marks, evidence) {
  const count = (sign) => marks.filter((mark) => mark === sign).length;
  const onObject = (sign) => marks.filter((mark, token) => mark === sign && evidence[token]).length;
  const words = (sign) => (evidence && count(sign) ? ` (${onObject(sign) || "none"} on the object)` : "");
  const [came, went] = [count(1), count(-1)];
  if (!came && !went) return "The same tokens are kept as before.";
  return `${plural(came, "token")} added${words(1)}, ${went.toLocaleString("en")} removed${words(-1)}.`;
}
