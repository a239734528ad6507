// @ts-check
// A pointer or a finger on the frame and the strips.

import { firstFrame } from "./data.js";
import { boxOf } from "./paint.js";
import { tokenLines } from "./token.js";
import { make } from "./words.js";

/** @param {import("./viewer.js").Viewer} viewer */
export function attachPointer(viewer) {
  const { canvas, strips, scrub } = viewer;
  canvas.addEventListener("pointermove", (event) => hoverAt(viewer, event));
  canvas.addEventListener("pointerleave", () => leave(viewer));
  canvas.addEventListener("click", (event) => {
    const place = viewer.clip ? tokenUnder(viewer, event) : -1;
    if (place >= 0) viewer.pin(viewer.shown().first + place);
  });
  scrub.addEventListener("input", () => {
    viewer.onHalt();
    viewer.showFrame(Number(scrub.value));
  });
  for (const { canvas: strip } of strips.items) {
    strip.addEventListener("pointerdown", (event) => {
      seek(viewer, event);
      scrub.focus({ preventScroll: true });
    });
    strip.addEventListener("pointermove", (event) => { if (event.buttons) seek(viewer, event); });
  }
}

function tokenUnder(viewer, event) {
  const canvas = viewer.canvas.getBoundingClientRect();
  const grid = viewer.gridBox();
  const column = Math.floor(((event.clientX - canvas.left - grid.left) / grid.width) * grid.columns);
  const row = Math.floor(((event.clientY - canvas.top - grid.top) / grid.height) * grid.rows);
  const inside = column >= 0 && row >= 0 && column < grid.columns && row < grid.rows;
  return inside ? row * grid.columns + column : -1;
}

function hoverAt(viewer, event) {
  if (!viewer.clip || event.pointerType === "touch") return;
  const box = viewer.stage.getBoundingClientRect();
  hover(viewer, tokenUnder(viewer, event), event.clientX - box.left, event.clientY - box.top);
}

// Show the card of the token at this place of the unit, beside (x, y) of the stage.
function hover(viewer, place, x, y) {
  viewer.hovered = place;
  if (place < 0) return leave(viewer);
  const { stage } = viewer;
  const shown = viewer.shown();
  const card = cardOf(viewer);
  card.replaceChildren(...tokenLines(shown, shown.first + place).map(([text, kind]) => make("div", kind, text)));
  card.hidden = false;
  const flip = x + 24 + card.offsetWidth > stage.clientWidth;
  const left = flip ? x - card.offsetWidth - 16 : x + 16;
  const top = Math.min(y + 12, stage.clientHeight - card.offsetHeight - 4);
  Object.assign(card.style, { left: `${Math.max(4, left)}px`, top: `${Math.max(4, top)}px` });
  viewer.redraw();
}

/** @returns {HTMLElement} */
const cardOf = (viewer) => viewer.root.querySelector(".gv-card");

export function leave(viewer) {
  viewer.hovered = -1;
  cardOf(viewer).hidden = true;
  viewer.redraw();
}

const STEPS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };

// Walk over the tokens of the frame: from the one hovered, the pinned one or the middle.
export function walk(viewer, key) {
  const { rows, columns, perUnit } = viewer.clip;
  const middle = Math.floor(rows / 2) * columns + Math.floor(columns / 2);
  const from = [viewer.hovered, viewer.pinned % perUnit, middle].find((place) => place >= 0);
  const [right, down] = STEPS[key];
  const column = Math.max(0, Math.min(columns - 1, (from % columns) + right));
  const row = Math.max(0, Math.min(rows - 1, Math.floor(from / columns) + down));
  const place = row * columns + column;
  const [x, y, w, h] = boxOf(viewer.gridBox(), place);
  hover(viewer, place, viewer.canvas.offsetLeft + x + w, viewer.canvas.offsetTop + y + h);
  viewer.say([...cardOf(viewer).children].map((line) => line.textContent).join(", "));
}

function seek(viewer, event) {
  if (!viewer.clip) return;
  const box = event.currentTarget.getBoundingClientRect();
  const share = Math.max(0, Math.min((event.clientX - box.left) / box.width, 0.9999));
  viewer.onHalt();
  viewer.showFrame(firstFrame(viewer.clip, Math.floor(share * viewer.clip.units)));
}
