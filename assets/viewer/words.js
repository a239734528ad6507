// @ts-check
// What the viewer says of the frame on show: the line above it, its legend, its caption. Text from
// outside is only ever set as textContent.

import { ABSENT, fatesIn, overlap } from "./data.js";

export function make(tag, className = "", text = "", ...children) {
  const node = Object.assign(document.createElement(tag), { className, textContent: text });
  node.append(...children);
  return node;
}

export const short = (value) => Number(value.toPrecision(3)).toLocaleString("en");
export const plural = (count, word) => `${count.toLocaleString("en")} ${word}${count === 1 ? "" : "s"}`;
const atLayer = (layer) => (layer ? `layer ${layer} of the language model` : "the language model");

// One or two sentences: what am I looking at?
const WHAT = {
  kept: ({ methodA, a, layer }) =>
    `The frame as ${methodA.label} leaves it to ${atLayer(layer)}: bright tokens are `
    + (a.merges ? "kept, dotted ones are merged into a kept one, dark ones are dropped." : "kept, dark ones are dropped."),
  heat: ({ methodA, score }) =>
    `How ${methodA.label} rates every token by its ${score.label}. White lines surround the tokens it keeps.`,
  outline: ({ methodA, layer }) =>
    `The frame with a line around the tokens that ${methodA.label} keeps for ${atLayer(layer)}.`,
  ab: ({ methodA, methodB }) =>
    `Where A, ${methodA.label}, and B, ${methodB.label}, keep the same tokens and where they differ.`,
  groups: ({ methodA }) =>
    `Where the tokens go under ${methodA.label}: one colour is one row that the model receives, its dot `
    + "the token it stands at. Point at a group to see all of it.",
  original: () => "The frame as it was sampled, without any marks.",
};

const LEGENDS = {
  kept: ({ a }) => [
    ["bright", "kept"],
    ...(a.merges ? [["dots", "merged into a kept token"]] : []),
    ["dark", "dropped"],
  ],
  heat: ({ score }) => [
    ["", short(score.low)], ["ramp", ""], ["", `${short(score.high)}  ${score.label}`],
    ["line", "around kept tokens"],
    ...(score.levels.includes(ABSENT) ? [["dark", "no score: gone before this layer"]] : []),
  ],
  outline: () => [["blue", "around kept tokens"]],
  ab: () => [["bright", "both keep it"], ["a", "only A"], ["b", "only B"], ["dark", "neither"]],
  groups: ({ a }) => [
    ["groups", "one colour and border: one row"], ["dot", "the token it stands at"],
    ...(a.merges ? [["dots", "its row stands in another unit"]] : []), ["dark", "dropped"],
  ],
  original: () => [],
};

/** @param {HTMLElement} root */
export function describeView(root, shown) {
  const find = (selector) => root.querySelector(selector);
  find(".gv-what").textContent = WHAT[shown.kind](shown);
  const items = LEGENDS[shown.kind](shown).map(([swatch, text]) => {
    const item = make("li", "", text);
    if (swatch) item.prepend(make("i", `gv-swatch gv-swatch-${swatch}`));
    return item;
  });
  find(".gv-legend").replaceChildren(...items);
  const { bytes, left_out: left } = shown.clip.value;
  const size = (count) => `${(count / 1e6).toFixed(count < 1e6 ? 2 : 1)} MB`;
  const missing = left.length ? ` Too large to send: ${left.join(", ")}.` : "";
  find(".gv-size").textContent = `In this browser: ${size(bytes.frames)} of frames, ${size(bytes.tokens)} `
    + `of masks and scores for ${plural(shown.clip.methods.length, "compressor")}. Nothing more is fetched.${missing}`;
}

export function frameWords(shown) {
  const { clip, frame, unit, a, b } = shown;
  const { tiles, seconds } = clip.value;
  const step = clip.units === tiles.count ? "" : ` · unit ${unit + 1} of ${clip.units}`;
  const fates = fatesIn(clip, a, unit);
  const merged = fates.merged ? `, ${fates.merged} merged, ${fates.dropped} dropped` : "";
  const parts = [
    `Frame ${frame + 1} of ${tiles.count} · ${seconds[frame].toFixed(2)} s${step}`,
    `${b ? "A: " : ""}${a.budgets[unit]} of ${clip.perUnit} tokens kept${merged}`,
  ];
  if (b) {
    const { both, onlyA, onlyB, iou } = overlap(clip, a, b, unit);
    parts.push(`B: ${b.budgets[unit]}`);
    parts.push(`both ${both}, only A ${onlyA}, only B ${onlyB}, IoU ${iou.toFixed(2)}`);
  }
  return parts.join(" · ");
}
