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
    "+": () => viewer.zoom(2),
    "-": () => viewer.zoom(0.5),
    Enter: () => {
      if (viewer.hovered >= 0) pinAt(viewer, viewer.handled, viewer.hovered);
      else if (viewer.pin.token >= 0) viewer.pin.toggle(viewer.pin.token);
    },
    Escape: () => {
      if (viewer.pin.token >= 0) viewer.pin.toggle(viewer.pin.token);
      leave(viewer);
    },
  };
  viewer.root.addEventListener("keydown", (event) => onKey(viewer, keys, event));
}

function onKey(viewer, keys, event) {
  if (!viewer.clip || viewer.edit.hearKey(event) || event.ctrlKey || event.metaKey || event.altKey) return;
  const { target, shiftKey, key } = event;
  if (hasOwnUse(target, key)) return;
  if (shiftKey && key.startsWith("Arrow")) walk(viewer, key);
  else if (/^[1-6]$/.test(key)) view(viewer, offeredViews(viewer)[Number(key) - 1]);
  else if (keys[key]) keys[key]();
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
