// @ts-check
// When and how large the viewer is drawn: at most once an animation frame.

const COLOURS = ["a", "accent", "bar", "track", "axis", "even", "ground", "ink"];
const NARROW = 640; // pixels of width below which the timeline's labels shrink
const LOWEST = 220; // smallest height of a frame in pixels
const HIGHEST = 640;
const SENTENCE = 32; // height in pixels of the sentence under the timeline
const ANSWER = 124; // pixels of an answer of two lines with its cost; a longer one leaves the frames as large

export class Drawing {
  #queued = false;
  #colours = {};

  /** @param {import("./viewer.js").Viewer} viewer */
  constructor(viewer) {
    this.viewer = viewer;
  }

  redraw() {
    const { viewer } = this;
    if (this.#queued || !viewer.clip) return;
    this.#queued = true;
    requestAnimationFrame(() => {
      this.#queued = false;
      if (viewer.clip && viewer.element.isConnected && viewer.panes.a.size[0] > 0) this.#draw();
    });
  }

  // Sizes and colours are read when they change, not while drawing.
  measure() {
    const { root, clip, panes, controls, strips, film } = this.viewer;
    const style = getComputedStyle(root);
    for (const name of COLOURS) this.#colours[name] = style.getPropertyValue(`--gv-${name}`).trim();
    root.dataset.width = root.clientWidth < NARROW ? "narrow" : "wide";
    if (!clip) return;
    const { tiles } = clip.value;
    const tallest = this.#tallest();
    panes.a.fit(tiles, tallest);
    panes.b.fit(tiles, tallest);
    controls.measure(tiles.count);
    strips.measure();
    film.measure(this.viewer.shown());
    this.redraw();
  }

  // Largest height of a frame at which everything down to the sentence under the timeline fits the window.
  #tallest() {
    const { root, panes } = this.viewer;
    if (root.dataset.width === "narrow") return Infinity;
    const stage = panes.a.stage.getBoundingClientRect();
    const answers = [panes.a, panes.b].map(({ answer }) => answer.offsetHeight);
    const longer = Math.max(0, Math.max(0, ...answers) - ANSWER);
    const moment = root.querySelector(".gv-moment").getBoundingClientRect();
    const time = root.querySelector(".gv-time").getBoundingClientRect();
    const below = Math.max(moment.bottom, time.bottom + SENTENCE) - stage.bottom - longer;
    const free = window.innerHeight - (stage.top + window.scrollY) - below - 20;
    return Math.max(LOWEST, Math.min(free, HIGHEST));
  }

  #draw() {
    const { viewer } = this;
    const shown = viewer.shown();
    const [a, b = null] = shown.sides;
    viewer.panes.a.draw(a, b, shown);
    if (b) viewer.panes.b.draw(b, a, shown);
    viewer.strips.draw(shown, this.#colours);
    viewer.film.draw(shown, this.#colours);
    viewer.controls.showPlace(shown);
    viewer.drawn(shown);
  }
}
