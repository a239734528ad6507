// @ts-check
// Decides the viewer's size, and draws the viewer at most once an animation frame.

const COLOURS = ["a", "accent", "bar", "track", "axis", "even", "ground", "ink", "soft"];
const NARROW = 640; // pixels of width below which the timeline's labels shrink
const LOWEST = 220; // smallest height of a frame in pixels
const HIGHEST = 640;
const SENTENCE = 32; // height in pixels of the sentence under the timeline
const UNDER = 110; // pixels below a frame for an answer of one line, its cost and a count of tokens
const NEXT = 176; // pixels to the right of a frame for its answer, cost and token count, with a gap
const MESSAGE = 24; // height in pixels of the line of messages above the frames
const LEGEND = 18; // height in pixels of a legend of one line

export class Drawing {
  #queued = false;
  #isResized = false;
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
      if (this.#isResized && viewer.clip) this.#measure();
      if (viewer.clip && viewer.element.isConnected && viewer.panes.a.size[0] > 0) this.#draw();
    });
  }

  // Sizes or colours of the page changed: read them before the next drawing, once for all changes until then.
  measure() {
    this.#isResized = true;
    this.redraw();
  }

  #measure() {
    this.#isResized = false;
    const { root, clip, panes, strips, film } = this.viewer;
    const style = getComputedStyle(root);
    for (const name of COLOURS) this.#colours[name] = style.getPropertyValue(`--gv-${name}`).trim();
    root.dataset.width = root.clientWidth < NARROW ? "narrow" : "wide";
    const { tiles } = clip.value;
    strips.measure();
    film.measure(this.viewer.shown()); // before the large frames are fitted into the remaining height
    // Answers stand below the frames, or to their right where this leaves more room, as for square clips.
    const [free, wide] = [this.#free(), panes.a.width];
    const below = Math.min(Math.max(LOWEST, free - UNDER), HIGHEST);
    const next = Math.min(free, HIGHEST, (wide - NEXT) * (tiles.height / tiles.width));
    const isNarrow = root.dataset.width === "narrow";
    const isNext = !isNarrow && next > Math.min(below, wide * (tiles.height / tiles.width));
    root.toggleAttribute("data-next", isNext);
    for (const pane of [panes.a, panes.b]) pane.fit(tiles, isNarrow ? Infinity : isNext ? next : below);
  }

  // Height for frames and answers at which everything down to the sentence under the timeline fits the window.
  // Message and legend count as one line each, so that longer texts do not shrink the frames.
  #free() {
    const { root, panes } = this.viewer;
    const stage = panes.a.stage.getBoundingClientRect();
    const [tools, legend, time, moment] = [".gv-tools", ".gv-legend", ".gv-time", ".gv-moment"]
      .map((part) => root.querySelector(part).getBoundingClientRect());
    const message = document.getElementById("gv-under")?.getBoundingClientRect().height ?? MESSAGE;
    const longer = legend.height - LEGEND + Math.max(0, message - MESSAGE);
    const below = Math.max(moment.bottom, time.bottom + SENTENCE) - tools.top - longer;
    return Math.round(window.innerHeight - (stage.top + window.scrollY) - below - 20);
  }

  #draw() {
    const { viewer } = this;
    const shown = viewer.shown();
    const [a, b = null] = shown.sides;
    viewer.panes.a.draw(a, b, shown);
    if (b) viewer.panes.b.draw(b, a, shown);
    viewer.strips.draw(shown, this.#colours);
    viewer.film.draw(shown, this.#colours);
    viewer.quick.draw();
    viewer.controls.showPlace(shown);
    viewer.drawn(shown);
  }
}
