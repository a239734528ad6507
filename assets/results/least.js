// @ts-check
// One sentence for each compressor: the lowest ratio at which it keeps the answer. A click on a sentence opens
// the run at that ratio as B. Text from outside is only ever set as textContent.

import { button, make, openTab } from "../viewer/dom.js";

/** @param {{ element: HTMLElement, props: any, watch: (name: string, act: () => void) => void }} scope */
export function mount({ element, props, watch }) {
  const place = element.querySelector(".gv-least");
  const show = () => place.replaceChildren(...(props.value ? found(props.value) : []));
  watch("value", show);
  show();
}

function found({ question, answer, clip, rows, done }) {
  const head = make("p", "", `“${question}” · ${clip} · answer to keep: “${answer}”`);
  return [head, make("ul", "", "", ...rows.map((row) => line(row, done)))];
}

function line({ text, id, other }, done) {
  const open = button(text, () => {
    document.dispatchEvent(new CustomEvent("gleanvid:pair", { detail: { b: "", id, source: "compare" } }));
    openTab("Tokens");
  }, "gv-plain");
  Object.assign(open, { disabled: !done || !id, title: "Show this run as B in the viewer" });
  return make("li", "", "", open, make("span", "", other));
}
