// @ts-check
// The time to the first token as one bar of four stages: read (the file), encode, compress, prefill.

import { make } from "./dom.js";

/** @typedef {[string, number][]} Parts  name and seconds of each stage */

export const total = (/** @type {Parts} */ parts) => parts.reduce((sum, [, seconds]) => sum + seconds, 0);

export const secondsText = (seconds) => `${seconds.toFixed(seconds < 0.0995 ? 3 : 2)} s`;

// Legend of the time bar.
export const key = (/** @type {Parts} */ parts) => make("span", "gv-clockkey", "", ...parts.map(([name]) =>
  make("span", "", "", make("i", `gv-time-${name}`), name)));

// `longest`: seconds that correspond to the full width of the bar.
export function clock(/** @type {Parts} */ parts, longest) {
  const words = parts.map(([name, seconds]) => `${name} ${secondsText(seconds)}`).join(", ");
  const bar = make("span", "gv-clockbar", "", ...parts.map(([name, seconds]) => {
    const part = make("i", `gv-time-${name}`);
    part.style.width = `${(100 * seconds) / (longest || 1)}%`;
    return part;
  }));
  Object.assign(bar, { role: "img", ariaLabel: words, title: words });
  return bar;
}
