// @ts-check
// Entry of the viewer's modules: creates a viewer on the page and connects it with Gradio and the document.

import { KINDS } from "./controls.js";
import { firstFrame } from "./data.js";
import { attachKeys } from "./keys.js";
import { Player } from "./player.js";
import { attachPointer } from "./pointer.js";
import { Viewer } from "./viewer.js";

/**
 * Called once for every mount with the arguments that Gradio passes to the script of a `gr.HTML`.
 * `components/viewer/component.py` describes the props and events.
 * @param {{ element: HTMLElement, props: any, watch: (name: string, act: () => void) => void,
 *   trigger: (event: string, detail: object) => void }} scope
 */
export function mount({ element, props, watch, trigger }) {
  const viewer = new Viewer(element, trigger);
  const linked = new URLSearchParams(location.search).get("view") ?? "";
  if (KINDS.includes(linked)) viewer.kind = linked;
  attachKeys(viewer, new Player(viewer));
  attachPointer(viewer);
  observe(viewer);
  follow(viewer);
  const offer = () => viewer.offer(props.choices);
  const answer = () => viewer.loadAnswers(props.answers);
  const wait = () => viewer.telling.wait(props.pending);
  const load = () => viewer.load(props.value);
  const isStale = window["gleanvid"]?.newestOnly() ?? (() => false);
  for (const [name, act] of Object.entries({ choices: offer, answers: answer, pending: wait, value: load })) {
    watch(name, () => { if (!isStale(props.version)) act(); });
    act();
  }
}

// Resize the frames when the width of the viewer or the room for it changes.
function observe(viewer) {
  let seen = "";
  // Closing the panel of models above the viewer leaves more height for the frames.
  const above = document.getElementById("gv-load");
  const parts = [viewer.root, ...(above ? [above] : [])];
  const resized = new ResizeObserver(() => {
    const now = `${viewer.root.clientWidth} ${above?.offsetHeight}`;
    if (now === seen) return;
    seen = now;
    viewer.measure();
  });
  for (const part of parts) resized.observe(part);
  new MutationObserver(() => viewer.measure())
    .observe(document.body, { attributes: true, attributeFilter: ["class"] });
}

// Events of the document: "gleanvid:unit" {unit, source} moves the viewer. "gleanvid:pair" {a, b, id, source}
// chooses its runs by place or label, or by the id of a run that it does not have yet. "gleanvid:question" {text}
// and "gleanvid:setting" {name, value} report the text of the question box. The viewer itself also sends the first
// two, with the source "viewer".
function follow(viewer) {
  const mounted = new AbortController();
  const hear = (name, act) => document.addEventListener(name, ({ detail }) => {
    if (!viewer.element.isConnected) return mounted.abort();
    if (viewer.clip && detail && detail.source !== "viewer") act(detail);
  }, { signal: mounted.signal });
  hear("gleanvid:unit", ({ unit }) => {
    const { grid } = viewer.shown().main;
    if (!Number.isInteger(unit) || unit < 0 || unit >= grid.units || unit === grid.unitOf[viewer.frame]) return;
    viewer.onHalt();
    viewer.showFrame(firstFrame(grid, unit));
  });
  hear("gleanvid:question", ({ text }) => viewer.hearQuestion(text));
  hear("gleanvid:setting", ({ name, value }) => { // for example, the page sets the question of an example clip
    if (name === "question") viewer.hearQuestion(String(value ?? ""));
    if (name === "clip" && value) viewer.expect(String(value).split("/").pop());
  });
  hear("gleanvid:pair", (detail) => {
    for (const side of ["a", "b"]) {
      if (detail[side] === undefined) continue;
      const wanted = ({ label }, index) => label === detail[side] || index === detail[side];
      const place = viewer.clip.methods.findIndex(wanted);
      if (place >= 0) viewer.choose(side, place);
      else if (detail.id) return viewer.tellServer("pair", { ...viewer.pair, [side]: detail.id });
    }
    viewer.tellServer("pair", viewer.pair);
  });
}
