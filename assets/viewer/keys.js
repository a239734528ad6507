// @ts-check
// Handles the viewer's keyboard commands.

import { KINDS } from "./controls.js";
import { leave, pinAt, walk } from "./pointer.js";

/**
 * @param {import("./viewer.js").Viewer} viewer
 * @param {import("./player.js").Player} player
 */
export function attachKeys(viewer, player) {
  const step = (next) => {
    player.stop();
    viewer.showFrame(next);
    viewer.sayFrame();
  };
  const stepUnit = (by) => {
    const { grid, unit } = viewer.shown().main;
    viewer.visitUnit(Math.max(0, Math.min(unit + by, grid.units - 1)));
  };
  const units = { ArrowLeft: -1, ArrowRight: 1, ArrowDown: -1, ArrowUp: 1, PageDown: -10, PageUp: 10 };
  viewer.film.place.addEventListener("keydown", (event) => {
    if (!viewer.clip || !units[event.key] || event.shiftKey) return;
    stepUnit(units[event.key]);
    event.preventDefault();
    event.stopPropagation();
  });
  const keys = {
    ArrowLeft: () => step(viewer.frame - 1),
    ArrowRight: () => step(viewer.frame + 1),
    ArrowDown: () => step(viewer.frame - 1),
    ArrowUp: () => step(viewer.frame + 1),
    PageDown: () => step(viewer.frame - 10),
    PageUp: () => step(viewer.frame + 10),
    Home: () => step(0),
    End: () => step(viewer.clip.value.tiles.count - 1),
    " ": () => player.toggle(),
    Enter: () => {
      if (viewer.hovered >= 0) pinAt(viewer, viewer.handled, viewer.hovered);
      else if (viewer.pin.token >= 0) viewer.pin.toggle(viewer.pin.token);
    },
    Escape: () => {
      if (viewer.pin.token >= 0) viewer.pin.toggle(viewer.pin.token);
      leave(viewer);
    },
    "+": () => fade(viewer, 5),
    "=": () => fade(viewer, 5),
    "-": () => fade(viewer, -5),
    a: (by) => cycle(viewer, "a", by),
    b: (by) => cycle(viewer, "b", by),
    s: (by) => cycle(viewer, "score", by),
    l: (by) => cycle(viewer, "layer", by),
    v: () => player.showVideo(player.video.hidden),
  };
  viewer.root.addEventListener("keydown", (event) => onKey(viewer, keys, event));
}

function onKey(viewer, keys, event) {
  if (!viewer.clip || viewer.edit.hearKey(event) || event.ctrlKey || event.metaKey || event.altKey) return;
  const { target, shiftKey } = event;
  const key = event.key.length === 1 ? event.key.toLowerCase() : event.key;
  if (hasOwnUse(target, key)) return;
  if (shiftKey && key.startsWith("Arrow")) walk(viewer, key);
  else if (/^[1-7]$/.test(key)) view(viewer, offeredViews(viewer)[Number(key) - 1]);
  else if (keys[key]) keys[key](shiftKey ? -1 : 1);
  else return;
  event.preventDefault();
}

// Whether a list, checkbox or button handles this key itself.
function hasOwnUse(target, key) {
  if (target.matches("select")) return key !== "Escape";
  if (target.matches("button")) return key === " " || key === "Enter";
  const native = target.matches("input[type=radio], .gv-strength input");
  return native && /^(Arrow|Page|Home|End| $|Enter)/.test(key);
}

// The visible views from left to right, in the order of the number keys.
const offeredViews = (viewer) =>
  KINDS.filter((kind) => !viewer.part(`input[value=${kind}]`).parentElement.hidden);

function view(viewer, kind) {
  if (!kind) return;
  viewer.chooseView(kind);
  if (viewer.kind === kind) viewer.telling.say(viewer.root.querySelector(".gv-what").textContent);
}

function fade(viewer, by) {
  viewer.strength.value = Number(viewer.strength.value) + by;
  viewer.redraw();
  viewer.telling.say(`Overlay ${viewer.strength.value} %`);
}

// Select the next option of a list, with the events of a manual choice.
function cycle(viewer, name, by) {
  const select = viewer.controls.pick(name);
  const values = [...select.options].map((option) => option.value).filter((value) => !value.startsWith("run:"));
  if (values.length < 2)
    return viewer.telling.say((name === "b" && viewer.controls.missing("ab")) || "There is no other choice.");
  select.value = values[(values.indexOf(select.value) + by + values.length) % values.length];
  if (name === "score") viewer.kind = "heat";
  select.dispatchEvent(new Event("change"));
  const chosen = select.selectedOptions[0].textContent;
  viewer.telling.say(`${select.ariaLabel ?? select.previousElementSibling.textContent}: ${chosen}`);
}
