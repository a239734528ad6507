// @ts-check
// On a phone, the slider of the retention ratio right below the frames. Once the frames are out of sight, the slider
// stays at the top of the window with small frames above it, so that the effect of every setting can be seen.

import { percent } from "./dom.js";
import { fitCanvas } from "./paint.js";

const TALL = 110; // greatest height of a small frame in pixels
const GAP = 8;
const SETTING = "retention_ratio";
const SLIDER = "#gv-settings input[type=range][aria-label^='range slider for Retention']";

export class Quick {
  /** @param {import("./viewer.js").Viewer} viewer */
  constructor(viewer) {
    this.viewer = viewer;
    this.place = viewer.part(".gv-quick");
    this.canvas = this.place.querySelector("canvas");
    this.input = this.place.querySelector("input");
    this.output = this.place.querySelector("output");
    this.input.addEventListener("input", () => this.#move());
    document.addEventListener("gleanvid:setting", (/** @type {CustomEvent} */ { detail }) => {
      if (detail.name === SETTING || detail.name === "compressor") requestAnimationFrame(() => this.describe());
    });
    new IntersectionObserver(([{ isIntersecting, boundingClientRect }]) => {
      this.place.toggleAttribute("data-stuck", !isIntersecting && boundingClientRect.bottom < 0);
      this.draw();
    }).observe(viewer.part(".gv-panes"));
  }

  // The page's own slider; null in a file without one.
  get #slider() {
    return /** @type {HTMLInputElement | null} */ (document.querySelector(SLIDER));
  }

  #move() {
    const slider = this.#slider;
    slider.value = this.input.value;
    slider.dispatchEvent(new Event("input", { bubbles: true }));
    this.describe();
  }

  describe() {
    const slider = this.#slider;
    this.place.hidden = !slider;
    if (!slider) return;
    const { min, max, step, value } = slider;
    Object.assign(this.input, { min, max, step, value });
    this.output.textContent = percent(Number(value));
  }

  draw() {
    const { clip, panes } = this.viewer;
    if (!clip || !this.place.hasAttribute("data-stuck")) return;
    const shown = [panes.a, panes.b].filter(({ canvas }) => canvas.checkVisibility());
    const { width, height } = clip.value.tiles;
    const room = (this.place.clientWidth - GAP * (shown.length - 1)) / shown.length;
    const tall = Math.round(Math.min(TALL, (room * height) / width));
    const wide = Math.round((tall * width) / height);
    const whole = shown.length * (wide + GAP) - GAP;
    Object.assign(this.canvas.style, { width: `${whole}px`, height: `${tall}px` });
    const context = fitCanvas(this.canvas, whole, tall);
    shown.forEach(({ canvas }, place) => context.drawImage(canvas, place * (wide + GAP), 0, wide, tall));
  }
}
