// @ts-check
// One setting: its name, what it means, and what changes it. `show(value)` brings it up to date, and
// `set(value, push)` is called with what a hand makes of it. Text from outside is only ever textContent.

import { make } from "../viewer/words.js";

/**
 * @typedef {{ key: string, kind: "slider" | "number" | "list" | "switch", label: string, help: string,
 *   default: any, low?: number, high?: number, step?: number, whole?: boolean, choices?: any[],
 *   optional?: string, start?: number, at_most?: string, readout?: boolean }} Field
 * @typedef {(value: any, push?: boolean) => void} Set
 */

/**
 * @param {Field} field
 * @param {Set} set
 */
export function row(field, set) {
  const { node, show } = field.optional ? optional(field, set) : KINDS[field.kind](field, set);
  if (!field.readout) return { key: field.key, node, show };
  const line = Object.assign(make("p", "gv-readout"), { role: "status" });
  const both = make("div", "gv-setting", "", node, line);
  return { key: field.key, node: both, show: (value, text) => { show(value); line.textContent = text; } };
}

const KINDS = { slider, number, list, switch: toggle };
const input = (type, label) => Object.assign(document.createElement("input"), { type, ariaLabel: label });
const helped = (node, help) => Object.assign(node, { ariaDescription: help });
const meaning = (help) => make("p", "gv-meaning", help);

/**
 * @param {Field} field
 * @param {Set} set
 */
function slider(field, set) {
  const { label, help, low, high, step } = field;
  const range = helped(Object.assign(input("range", `range slider for ${label}`), { min: low, max: high, step }), help);
  const typed = box(field, set);
  const reset = Object.assign(make("button", "gv-reset", "↺"), { type: "button", ariaLabel: `Reset ${label} to its default` });
  range.addEventListener("input", () => set(Number(range.value), true));
  reset.addEventListener("click", () => {
    set(field.default, true);
    range.focus();
  });
  const head = make("div", "gv-setting-head", "", make("span", "gv-setting-name", label), typed.node, reset);
  return {
    node: make("div", "gv-setting", "", head, meaning(help), range),
    show(value) {
      range.value = value;
      range.style.setProperty("--range_progress", `${(100 * (value - low)) / (high - low)}%`);
      typed.show(value);
      reset.style.visibility = value === field.default ? "hidden" : "";
    },
  };
}

/**
 * @param {Field} field
 * @param {Set} set
 */
function number(field, set) {
  const typed = box(field, set);
  helped(typed.node, field.help);
  const head = make("div", "gv-setting-head", "", make("span", "gv-setting-name", field.label), typed.node);
  return { node: make("div", "gv-setting", "", head, meaning(field.help)), show: typed.show };
}

/**
 * A number that is typed: what is out of range moves into it once typing ends.
 * @param {Field} field
 * @param {Set} set
 */
function box({ label, low, high, step, whole }, set) {
  const node = Object.assign(input("number", `number input for ${label}`), { min: low ?? "", max: high ?? "", step });
  let shown = "";
  const within = (value) => Math.min(Math.max(whole ? Math.round(value) : value, low ?? -Infinity), high ?? Infinity);
  node.addEventListener("input", () => {
    const value = node.valueAsNumber;
    if (within(value) === value) set(value);
  });
  node.addEventListener("change", () => {
    if (Number.isFinite(node.valueAsNumber)) set(within(node.valueAsNumber), true);
    node.value = shown;
  });
  return {
    node,
    show(value) {
      shown = String(value);
      if (document.activeElement !== node || node.valueAsNumber !== value) node.value = shown;
    },
  };
}

/**
 * @param {Field} field
 * @param {Set} set
 */
function list({ label, help, choices }, set) {
  const options = choices.map((value) => Object.assign(make("option", "", value), { value }));
  const menu = make("select", "", "", ...options);
  menu.addEventListener("change", () => set(menu.value));
  const node = make("label", "gv-setting", "", make("span", "gv-setting-name", label), meaning(help), menu);
  return { node, show(value) { menu.value = value; } };
}

/**
 * @param {Field} field
 * @param {Set} set
 */
function toggle({ label, help }, set) {
  const tick = input("checkbox", label);
  tick.addEventListener("change", () => set(tick.checked));
  const node = make("label", "gv-setting", "", make("span", "gv-tick", "", tick, label), meaning(help));
  helped(tick, help);
  return { node, show(value) { tick.checked = value; } };
}

/**
 * A switch with the words for None; once it is off, what stood there before.
 * @param {Field} field
 * @param {Set} set
 */
function optional(field, set) {
  const words = `${field.label}: ${field.optional}`;
  let last = field.start;
  const tick = input("checkbox", words);
  const inner = KINDS[field.kind]({ ...field, default: field.default ?? field.start }, set);
  tick.addEventListener("change", () => set(tick.checked ? null : last));
  return {
    node: make("div", "gv-setting", "", make("label", "gv-tick", "", tick, words), inner.node),
    show(value) {
      tick.checked = value === null;
      inner.node.hidden = value === null;
      last = value ?? last;
      inner.show(last);
    },
  };
}
