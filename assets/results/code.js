// @ts-check
// Code that repeats a run: a block for each language, with a button that copies the block. Text from
// outside is only ever set as textContent.

import { button, make } from "../viewer/dom.js";

const OLD = "The settings have changed since: write the code again.";

/** @param {{ element: HTMLElement, props: any, watch: (name: string, act: () => void) => void }} scope */
export function mount({ element, props, watch }) {
  const place = element.querySelector(".gv-code");
  const show = () => place.replaceChildren(...(props.value || []).map(([title, text]) => block(title, text)));
  document.addEventListener("gleanvid:setting", (/** @type {CustomEvent} */ { detail }) => {
    if (detail.name !== "view" && place.firstElementChild?.tagName === "FIGURE") place.prepend(make("p", "", OLD));
  });
  watch("value", show);
  show();
}

function block(title, text) {
  const code = make("pre", "", text);
  const copy = button("Copy", async () => {
    try {
      await navigator.clipboard.writeText(text);
      copy.textContent = "Copied";
    } catch { // browsers allow the clipboard only over https or on localhost
      getSelection()?.selectAllChildren(code);
      copy.textContent = "Selected: press Ctrl+C";
    }
  }, "gv-plain");
  copy.setAttribute("aria-label", `Copy the code for ${title}`);
  return make("figure", "", "", make("figcaption", "", "", make("b", "", title), copy), code);
}
