// @ts-check
// Handles a mouse or a finger on the frames and the strips.

import { boxOf } from "./paint.js";
import { tokenLines } from "./token.js";

/** @param {import("./viewer.js").Viewer} viewer */
export function attachPointer(viewer) {
  const { strips, scrub, panes } = viewer;
  for (const pane of [panes.a, panes.b]) {
    pane.canvas.addEventListener("pointermove", (event) => hoverAt(viewer, pane, event));
    pane.canvas.addEventListener("pointerleave", () => leave(viewer));
    pane.canvas.addEventListener("click", (event) => {
      const place = viewer.clip ? tokenUnder(viewer, pane, event) : -1;
      if (place >= 0 && !viewer.edit.takes(pane)) pinAt(viewer, pane.key, place);
    });
  }
  viewer.edit.attach((event) => tokenUnder(viewer, panes.b, event));
  scrub.addEventListener("input", () => {
    viewer.onHalt();
    viewer.showSecond(Number(scrub.value));
  });
  const stack = viewer.part(".gv-time");
  for (const { canvas } of [...strips.items, viewer.film]) {
    canvas.addEventListener("pointerdown", (event) => {
      seek(viewer, event);
      scrub.focus({ preventScroll: true });
    });
    canvas.addEventListener("mousedown", (event) => event.preventDefault()); // the slider keeps the focus
    canvas.addEventListener("pointermove", (event) => {
      if (event.buttons) seek(viewer, event);
      strips.read(strips.secondAt(event.clientX));
    });
    canvas.addEventListener("pointerleave", () => strips.read(null));
  }
  stack.addEventListener("wheel", (event) => onWheel(viewer, event), { passive: false });
}

// Pinching, or Ctrl with the wheel, zooms the time axis; a wheel to the side moves along it.
function onWheel(viewer, event) {
  const isSideways = Math.abs(event.deltaX) > Math.abs(event.deltaY) && !viewer.axis.isWhole;
  if (!viewer.clip || !(event.ctrlKey || isSideways)) return;
  event.preventDefault();
  if (event.ctrlKey) return viewer.zoom(2 ** (-event.deltaY / 100), viewer.strips.secondAt(event.clientX));
  viewer.axis.pan((event.deltaX / event.currentTarget.clientWidth) * (viewer.axis.to - viewer.axis.from));
  viewer.redraw();
}

const sideOf = (viewer, key) => viewer.shown().sides.find((side) => side.key === key);

export function pinAt(viewer, key, place) {
  viewer.handled = key;
  viewer.panes[key].card.hidden = true;
  viewer.pin.toggle(sideOf(viewer, key).first + place);
}

function tokenUnder(viewer, pane, event) {
  const canvas = pane.canvas.getBoundingClientRect();
  const box = pane.boxOf(sideOf(viewer, pane.key).grid);
  const column = Math.floor(((event.clientX - canvas.left - box.left) / box.width) * box.columns);
  const row = Math.floor(((event.clientY - canvas.top - box.top) / box.height) * box.rows);
  const inside = column >= 0 && row >= 0 && column < box.columns && row < box.rows;
  return inside ? row * box.columns + column : -1;
}

function hoverAt(viewer, pane, event) {
  if (!viewer.clip || event.pointerType === "touch") return;
  const canvas = pane.canvas.getBoundingClientRect();
  hover(viewer, pane, tokenUnder(viewer, pane, event), event.clientX - canvas.left, event.clientY - canvas.top);
}

// Show the card of the token at this index within the unit, next to (x, y) of the frame.
function hover(viewer, pane, place, x, y) {
  if (place < 0) return leave(viewer);
  if (viewer.handled !== pane.key) leave(viewer);
  viewer.handled = pane.key;
  viewer.hovered = place;
  const shown = viewer.shown();
  if (shown.own.first + place === viewer.pin.token) pane.card.hidden = true; // its details are below the frame
  else pane.showCard(tokenLines(shown, shown.own.first + place), x, y);
  viewer.redraw();
}

export function leave(viewer) {
  viewer.hovered = -1;
  for (const pane of Object.values(viewer.panes)) pane.card.hidden = true;
  viewer.redraw();
}

const STEPS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };

// Move the keyboard cursor over the tokens of a frame, starting at the hovered token, the pinned one or the middle.
export function walk(viewer, key) {
  const { own } = viewer.shown();
  const { rows, columns, perUnit } = own.grid;
  const middle = Math.floor(rows / 2) * columns + Math.floor(columns / 2);
  const from = [viewer.hovered, viewer.pin.token % perUnit, middle].find((place) => place >= 0);
  const [right, down] = STEPS[key];
  const column = Math.max(0, Math.min(columns - 1, (from % columns) + right));
  const row = Math.max(0, Math.min(rows - 1, Math.floor(from / columns) + down));
  const place = row * columns + column;
  const pane = viewer.panes[own.key];
  const [x, y, w, h] = boxOf(pane.boxOf(own.grid), place);
  hover(viewer, pane, place, x + w, y + h);
  viewer.telling.say([...pane.card.children].map((line) => line.textContent).join(", "));
}

function seek(viewer, event) {
  if (!viewer.clip) return;
  viewer.onHalt();
  viewer.showSecond(viewer.strips.secondAt(event.clientX));
}
