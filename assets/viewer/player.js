// @ts-check
// Playing: one frame after the other, about as fast as they were sampled.

const ICONS = { Play: "M4 2.5v11l9-5.5z", Pause: "M4 2.5h3v11H4zM9 2.5h3v11H9z" };
const SLOWEST_S = 0.6; // between two frames, however far apart they were sampled
const FASTEST_S = 0.08;

export class Player {
  #timer = 0;

  /** @param {import("./viewer.js").Viewer} viewer */
  constructor(viewer) {
    this.viewer = viewer;
    this.button = viewer.root.querySelector(".gv-play");
    this.button.addEventListener("click", () => this.toggle());
    viewer.onHalt = () => this.stop();
  }

  stop() {
    clearTimeout(this.#timer);
    this.#timer = 0;
    this.#name("Play");
  }

  toggle() {
    if (this.#timer) return this.stop();
    this.#name("Pause");
    this.#tick();
  }

  #name(name) {
    this.button.setAttribute("aria-label", name);
    this.button.querySelector("path").setAttribute("d", ICONS[name]);
  }

  #tick() {
    const { clip, element, frame } = this.viewer;
    if (!element.isConnected || !clip) return this.stop();
    const { tiles, seconds } = clip.value;
    const next = (frame + 1) % tiles.count;
    this.viewer.showFrame(next);
    const gap = next + 1 < tiles.count ? seconds[next + 1] - seconds[next] : SLOWEST_S;
    const pause = Math.max(FASTEST_S, Math.min(gap, SLOWEST_S));
    this.#timer = window.setTimeout(() => this.#tick(), 1000 * pause);
  }
}
