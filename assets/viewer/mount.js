// @ts-check
// The entry of the viewer: puts one on the page and connects it with what is around it.

import { firstFrame, unitAt } from "./data.js";
import { attachKeys } from "./keys.js";
import { Player } from "./player.js";
import { attachPointer } from "./pointer.js";
import { Viewer } from "./viewer.js";

/**
 * Called once for every mount with what Gradio gives the script of a `gr.HTML`.
 * @param {{ element: HTMLElement, props: any, watch: (name: string, act: () => void) => void }} scope
 */
export function mount({ element, props, watch }) {
  const viewer = new Viewer(element);
  attachKeys(viewer, new Player(viewer));
  attachPointer(viewer);
  viewer.strength.addEventListener("input", () => viewer.redraw());
  for (const input of element.querySelectorAll("input[name=gv-view]"))
    input.addEventListener("input", () => viewer.chooseView(/** @type {any} */ (input).value));
  for (const name of ["a", "b", "layer", "score"])
    viewer.pick(name).addEventListener("change", () => viewer.choose(name, viewer.pick(name).value));
  new ResizeObserver(() => viewer.measure()).observe(viewer.stage);
  new MutationObserver(() => viewer.measure())
    .observe(document.body, { attributes: true, attributeFilter: ["class"] });
  follow(viewer);
  viewer.measure();
  watch("value", () => viewer.load(props.value));
  viewer.load(props.value);
}

// "gleanvid:unit" {unit or seconds, source} moves the viewer, "gleanvid:pair" {a, b, source} chooses
// its compressors by place or label. The viewer sends both itself, with the source "viewer".
function follow(viewer) {
  const mounted = new AbortController();
  const hear = (name, act) => document.addEventListener(name, ({ detail }) => {
    if (!viewer.element.isConnected) return mounted.abort();
    if (viewer.clip && detail && detail.source !== "viewer") act(detail);
  }, { signal: mounted.signal });
  hear("gleanvid:unit", (detail) => {
    const { clip, frame } = viewer;
    const { unit = unitAt(clip, detail.seconds) } = detail;
    if (!Number.isInteger(unit) || unit < 0 || unit >= clip.units) return;
    if (unit === clip.value.units[frame]) return;
    viewer.onHalt();
    viewer.showFrame(firstFrame(clip, unit));
  });
  hear("gleanvid:pair", (detail) => {
    for (const side of ["a", "b"]) {
      if (detail[side] === undefined) continue;
      const wanted = ({ label }, index) => label === detail[side] || index === detail[side];
      const place = viewer.clip.methods.findIndex(wanted);
      if (place >= 0) viewer.choose(side, place);
      else if (side === "b" && detail.b === null) viewer.choosePair(viewer.a, null);
    }
  });
}
