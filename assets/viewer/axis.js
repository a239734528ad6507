// @ts-check
// The time axis that the small frames, the slider of frames and the strips share: which seconds of the clip are in
// view, and where each unit lies on it.

import { firstFrame, frameAt } from "./data.js";
import { timeText } from "./dom.js";

export const GUTTER = 34; // pixels left of the axis for the scale of a strip, as in viewer.css
const FEWEST = 4; // fewest frames in view
const STEPS = [0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 30, 60, 120, 300, 600, 1800, 3600, 7200]; // seconds between two ticks
const TICK = 56; // smallest distance of two ticks in pixels

export class Axis {
  from = 0; // first and last second in view
  to = 1;
  #seconds = [0];
  #ends = [0, 1]; // first and last second of the clip
  #edges = new WeakMap();

  /** @param {number[]} seconds  time of every frame; all of the clip comes into view unless the times are the same */
  load(seconds) {
    this.#edges = new WeakMap();
    if (String(seconds) === String(this.#seconds)) return;
    this.#seconds = seconds;
    const step = (seconds.at(-1) - seconds[0]) / Math.max(1, seconds.length - 1) || 1;
    this.#ends = [seconds[0], seconds.at(-1) + step];
    [this.from, this.to] = this.#ends;
  }

  get isWhole() {
    return this.to - this.from >= this.#ends[1] - this.#ends[0];
  }

  // The second at which each unit begins, and the end of the last one.
  /** @returns {number[]} */
  edges(grid) {
    if (!this.#edges.has(grid)) {
      const starts = Array.from({ length: grid.units }, (_, unit) => this.#seconds[firstFrame(grid, unit)]);
      this.#edges.set(grid, [...starts, this.#ends[1]]);
    }
    return this.#edges.get(grid);
  }

  // The unit of a grid at a second.
  unitAt(grid, second) {
    return grid.unitOf[frameAt(this.#seconds, second)];
  }

  // The middle of the time for which a frame stands.
  middle(frame) {
    return (this.#seconds[frame] + (this.#seconds[frame + 1] ?? this.#ends[1])) / 2;
  }

  // Place of a second in the view, as a fraction of its width; and back.
  share(second) {
    return (second - this.from) / (this.to - this.from);
  }

  second(share) {
    return this.from + Math.min(Math.max(share, 0), 0.9999) * (this.to - this.from);
  }

  zoom(factor, around) {
    const [start, end] = this.#ends;
    const least = (FEWEST * (end - start)) / Math.max(FEWEST, this.#seconds.length);
    const span = Math.min(end - start, Math.max(least, (this.to - this.from) / factor));
    this.#show(around - this.share(around) * span, span);
  }

  pan(seconds) {
    this.#show(this.from + seconds, this.to - this.from);
  }

  // Bring a second into view.
  reveal(second) {
    if (second < this.from || second > this.to) this.#show(second - (this.to - this.from) / 2, this.to - this.from);
  }

  #show(from, span) {
    const [start, end] = this.#ends;
    this.from = Math.max(start, Math.min(from, end - span));
    this.to = this.from + span;
  }

  // [second, text] of each tick of an axis of this width in pixels.
  /** @returns {[number, string][]} */
  ticks(width) {
    const step = STEPS.find((one) => (one * width) / (this.to - this.from) >= TICK) ?? STEPS.at(-1);
    const first = Math.ceil(this.from / step - 1e-6);
    const count = Math.max(0, Math.floor(this.to / step + 1e-6) - first + 1);
    return Array.from({ length: count }, (_, index) => {
      const second = (first + index) * step;
      return [second, second < 60 ? `${Number(second.toFixed(1))} s` : timeText(second)];
    });
  }
}
