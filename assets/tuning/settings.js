// @ts-check
// The settings of the chosen method, each drawn as what it declares: see `rows.js`.
//
// `fields`: what each setting may be, by key. `shown`: the keys of each method, in order. `props.value`:
// the settings that are not at their default, of every method; a new object each time.

import { row } from "./rows.js";

/**
 * @typedef {import("./rows.js").Field} Field
 * @param {{ element: HTMLElement, props: any, watch: (name: string, act: () => void) => void,
 *   fields: Record<string, Field>, shown: Record<string, string[]>, method: string }} scope
 */
export function mount({ element, props, watch, fields, shown, method }) {
  const own = new Own(element.querySelector(".gv-own"), props, fields, shown);
  watch("value", () => own.show());
  watch("readout", () => own.show());
  document.addEventListener("gleanvid:setting", (/** @type {CustomEvent} */ { detail }) => {
    if (detail.name === "compressor") own.draw(detail.value);
  });
  own.draw(window["gleanvid"]?.setting("compressor") ?? method);
}

class Own {
  /** @type {any[]} */
  rows = [];
  method = "";

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
    this.rows = (this.shown[method] ?? []).map((key) =>
      row(this.fields[key], (value, push) => this.set(key, value, push)));
    this.place.replaceChildren(...this.rows.map(({ node }) => node));
    this.show();
  }

  value(key) {
    return key in this.props.value ? this.props.value[key] : this.fields[key].default;
  }

  // `push`: where this crosses the other one of its pair, that goes along.
  set(key, value, push) {
    const { fields } = this;
    const values = { ...this.props.value };
    const put = (name, to) => { to === fields[name].default ? delete values[name] : values[name] = to; };
    put(key, value);
    for (const { key: other, at_most: most } of push ? Object.values(fields) : []) {
      if (most === key && this.value(other) > value) put(other, value);
      if (other === fields[key].at_most && this.value(other) < value) put(other, value);
    }
    this.props.value = values;
    this.show();
  }

  show() {
    const { readout } = this.props;
    for (const { key, show } of this.rows) show(this.value(key), readout);
  }
}
