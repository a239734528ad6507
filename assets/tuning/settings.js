// @ts-check
// The settings of the chosen method. Each is drawn as its declaration says: as a slider, a number box, a list
// or a switch. Text from outside is only ever set as textContent.
//
// `fields`: declaration of each setting, by key. `shown`: the keys of each method's settings, in order.
// `props.value`: the settings of all methods that differ from their defaults; a new object at every change.

import { make, percent } from "../viewer/dom.js";

/**
 * @typedef {{ key: string, kind: "slider" | "number" | "list" | "switch", label: string, help: string,
 *   default: any, low?: number, high?: number, step?: number, whole?: boolean, choices?: any[],
 *   optional?: string, start?: number, at_most?: string }} Field
 * @typedef {(value: any, push?: boolean, note?: string) => void} Set
 */

const TYPING_MS = 500; // pause that ends typing: otherwise every digit would be a change
const EDITED = "by_hand.keep";
const REPLACES = "B is edited by hand. Changing one of its settings replaces the edit.";
const KINDS = { slider, number, list, switch: toggle };

/**
 * @param {{ element: HTMLElement, props: any, watch: (name: string, act: () => void) => void,
 *   fields: Record<string, Field>, shown: Record<string, string[]>, method: string }} scope
 */
export function mount({ element, props, watch, fields, shown, method }) {
  const own = new Settings(element.querySelector(".gv-own"), props, fields, shown);
  watch("value", () => own.show());
  document.addEventListener("gleanvid:setting", (/** @type {CustomEvent} */ { detail }) => {
    if (detail.name === "compressor") own.draw(detail.value);
  });
  document.addEventListener("gleanvid:edit", (/** @type {CustomEvent} */ { detail }) => own.edit(detail.keep));
  own.draw(window["gleanvid"]?.setting?.("compressor") ?? method);
}

class Settings {
  /** @type {any[]} */
  rows = [];
  method = "";
  /** @type {Record<string, number>} */
  chosen = {}; // previous values of settings that another setting pushed along
  note = make("p", "gv-readout");
  edited = make("p", "gv-readout", REPLACES);

  /**
   * @param {Record<string, Field>} fields
   * @param {Record<string, string[]>} shown
   */
  constructor(place, props, fields, shown) {
    this.place = place;
    this.props = props;
    this.fields = fields;
    this.shown = shown;
  }

  draw(method) {
    if (method === this.method) return;
    this.method = method;
    this.chosen = {};
    this.rows = (this.shown[method] ?? []).map((key) =>
      row(this.fields[key], (value, push, note) => this.set(key, value, push, note)));
    this.note = Object.assign(make("p", "gv-readout"), { role: "status" });
    this.place.replaceChildren(this.edited, ...this.rows.map(({ node }) => node), this.note);
    this.show();
  }

  value(key) {
    return key in this.props.value ? this.props.value[key] : this.fields[key].default;
  }

  // `push`: if the value passes its partner's (alpha min and max), the partner takes this value, and returns to
  // its own as the value moves back. `note`: remark shown next to the value.
  set(key, value, push, note = "") {
    const { fields } = this;
    const values = { ...this.props.value };
    const put = (name, to) => { to === fields[name].default ? delete values[name] : values[name] = to; };
    put(key, value);
    if (push) delete this.chosen[key];
    for (const { key: other, at_most: most, label } of push ? Object.values(fields) : []) {
      const isLower = most === key;
      if (!isLower && other !== fields[key].at_most) continue;
      const own = this.chosen[other] ?? this.value(other);
      const moved = isLower ? Math.min(own, value) : Math.max(own, value);
      put(other, moved);
      if (moved === own) { delete this.chosen[other]; continue; }
      this.chosen[other] = own;
      note ||= `${label} was moved too, to ${moved}.`;
    }
    this.note.textContent = note;
    this.props.value = values;
    this.show();
  }

  // Tokens of B chosen by hand, as text; "": none.
  edit(keep) {
    if (!(EDITED in this.fields) || keep === this.value(EDITED)) return;
    const { [EDITED]: _, ...others } = this.props.value;
    this.props.value = keep ? { ...others, [EDITED]: keep } : others;
    this.show();
  }

  show() {
    this.edited.hidden = !(EDITED in this.fields && this.value(EDITED));
    for (const { key, show } of this.rows) show(this.value(key));
  }
}

// --- one setting: `show(value)` displays a value, `set(value, push)` sets it; `push`: also move its partner ---

/**
 * @param {Field} field
 * @param {Set} set
 */
function row(field, set) {
  const { node, show } = (field.optional ? optional : KINDS[field.kind])(field, set);
  return { key: field.key, node, show };
}

const input = (type, label, help) =>
  Object.assign(document.createElement("input"), { type, ariaLabel: label, ariaDescription: help });
const meaning = (help) => make("p", "gv-meaning", help);

/**
 * The first line of a setting: name, reset arrow and further elements.
 * @param {Field} field
 * @param {Set} set
 */
function head(field, set, ...others) {
  const reset = make("button", "gv-reset", "↺");
  Object.assign(reset, { type: "button", ariaLabel: `Reset ${field.label} to its default` });
  const node = make("div", "gv-setting-head", "", make("span", "gv-setting-name", field.label), reset, ...others);
  reset.addEventListener("click", () => {
    set(field.default, true);
    const { parentElement: place } = node; // the arrow hides once pressed
    (place.querySelector("input[type=range]") ?? place.querySelector("input, select"))?.focus();
  });
  return { node, show(value) { reset.style.visibility = value === field.default ? "hidden" : ""; } };
}

/**
 * @param {Field} field
 * @param {Set} set
 */
function slider(field, set) {
  const { label, help, low, high, step } = field;
  const range = Object.assign(input("range", `range slider for ${label}`, help), { min: low, max: high, step });
  const typed = box(field, set);
  const top = head(field, set, typed.node);
  range.addEventListener("input", () => set(Number(range.value), true));
  return {
    node: make("div", "gv-setting", "", top.node, meaning(help), range),
    show(value) {
      range.value = value;
      range.style.setProperty("--range_progress", `${(100 * (value - low)) / (high - low)}%`);
      typed.show(value);
      top.show(value);
    },
  };
}

/**
 * @param {Field} field
 * @param {Set} set
 */
function number(field, set) {
  const typed = box(field, set);
  const top = head(field, set, typed.node);
  const show = (value) => { typed.show(value); top.show(value); };
  return { node: make("div", "gv-setting", "", top.node, meaning(field.help)), show };
}

/**
 * A number box: its value takes effect when typing pauses, and is clamped to the range when typing ends.
 * @param {Field} field
 * @param {Set} set
 */
function box({ key, label, help, low, high, step, whole }, set) {
  const node = Object.assign(input("number", `number input for ${label}`, help), { min: low ?? "", max: high ?? "", step });
  const within = (value) => Math.min(Math.max(whole ? Math.round(value) : value, low ?? -Infinity), high ?? Infinity);
  let [shown, typing] = ["", 0];
  node.addEventListener("input", () => {
    clearTimeout(typing);
    const value = node.valueAsNumber;
    if (within(value) === value) typing = window.setTimeout(() => set(value), TYPING_MS);
  });
  node.addEventListener("change", () => {
    clearTimeout(typing);
    const given = node.valueAsNumber;
    const isPercent = high === 1 && key.endsWith("ratio") && given > 1 && given <= 100;
    const typed = isPercent ? Number((given / 100).toPrecision(12)) : given;
    const value = within(typed);
    const inside = value === (whole ? Math.round(typed) : typed);
    const beyond = inside ? "" : `${label} can be ${value < typed ? `at most ${high}` : `at least ${low}`}.`;
    const note = beyond || (isPercent ? `Read as ${percent(typed)}, a ratio of ${typed}.` : "");
    if (Number.isFinite(typed)) set(value, true, note);
    node.value = shown;
  });
  return {
    node,
    show(value) {
      shown = String(value);
      if (document.activeElement !== node) node.value = shown;
    },
  };
}

/**
 * @param {Field} field
 * @param {Set} set
 */
function list(field, set) {
  const options = field.choices.map((value) => Object.assign(make("option", "", value), { value }));
  const menu = make("select", "", "", ...options);
  Object.assign(menu, { ariaLabel: field.label, ariaDescription: field.help });
  menu.addEventListener("change", () => set(menu.value));
  const top = head(field, set);
  const show = (value) => { menu.value = value; top.show(value); };
  return { node: make("div", "gv-setting", "", top.node, meaning(field.help), menu), show };
}

/**
 * @param {Field} field
 * @param {Set} set
 */
function toggle(field, set) {
  const tick = ticked(field.label, field.help, set);
  const top = head(field, set);
  top.node.firstChild.replaceWith(tick.node);
  const show = (value) => { tick.show(value); top.show(value); };
  return { node: make("div", "gv-setting", "", top.node, meaning(field.help)), show };
}

/**
 * A switch for the value None. Switching it off shows the setting's slider or box, at the previous value.
 * @param {Field} field
 * @param {Set} set
 */
function optional(field, set) {
  let last = field.start;
  const first = ticked(`${field.label}: ${field.optional}`, field.help, (isNone) => set(isNone ? null : last));
  const inner = KINDS[field.kind](field, set);
  return {
    node: make("div", "gv-setting", "", first.node, inner.node),
    show(value) {
      first.show(value === null);
      inner.node.hidden = value === null;
      last = value ?? last;
      if (value !== null) inner.show(value);
    },
  };
}

// A switch with its label.
function ticked(words, help, act) {
  const tick = input("checkbox", words, help);
  tick.addEventListener("change", () => act(tick.checked));
  return { node: make("label", "gv-tick", "", tick, words), show(value) { tick.checked = value; } };
}
