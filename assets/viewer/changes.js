// @ts-check
// What a changed setting did: tokens that came and went are marked for a moment, and counted.

import { sameGrid } from "./data.js";
import { plural } from "./dom.js";

const MARKED_MS = 2000;
const SAID_MS = 6000;

export class Changes {
  /** @type {Int8Array | null} */
  marks = null; // by token: 1 came, -1 went
  #timer = 0;

  /** @param {import("./viewer.js").Viewer} viewer */
  constructor(viewer) {
    this.viewer = viewer;
  }

  // `before` and `now`: the side in charge, under the same compressor with other settings.
  compare(before, now) {
    if (before?.method.id === now.method.id) return;
    clearTimeout(this.#timer);
    this.marks = null;
    if (before?.method.name !== now.method.name || before.stage.layer !== now.stage.layer) return;
    if (!sameGrid(before.grid, now.grid)) return;
    this.marks = Int8Array.from(now.stage.kept, (kept, token) => kept - before.stage.kept[token]);
    if (before.method.label === now.method.label && !this.marks.some(Boolean)) return; // asked again
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
  let [came, went, onObject] = [0, 0, 0];
  marks.forEach((mark, token) => {
    came += Number(mark > 0);
    went += Number(mark < 0);
    onObject += mark && evidence?.[token] ? 1 : 0;
  });
  if (!came && !went) return "The same tokens are kept as before.";
  const some = evidence ? `, ${onObject || "none"} of them on the object` : "";
  return `${plural(came, "token")} came, ${went.toLocaleString("en")} went${some}.`;
}
