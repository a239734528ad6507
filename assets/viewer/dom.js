// @ts-check
// Functions shared by viewer, results and settings: making elements, formatting numbers, sorting, saving files.
// Text from outside is only ever set as textContent.

/** @returns {any} */
export function make(tag, className = "", text = "", ...children) {
  const node = Object.assign(document.createElement(tag), { className, textContent: text });
  node.append(...children);
  return node;
}

/** @returns {HTMLButtonElement} */
export function button(text, act, className = "") {
  const made = Object.assign(make("button", className, text), { type: "button" });
  made.addEventListener("click", act);
  return made;
}

// A header cell of a column, or of a row if `scope` is "row".
export const header = (text, scope = "col", ...children) => Object.assign(make("th", "", text, ...children), { scope });

// A table of header cells and rows, with a caption if `caption` is not empty.
export function table(className, caption, heads, rows) {
  const body = make("tbody", "", "", ...rows);
  const head = make("thead", "", "", make("tr", "", "", ...heads));
  return make("table", className, "", ...(caption ? [make("caption", "", caption)] : []), head, body);
}

export const verdict = (right) => (right ? "✓ right" : "✗ wrong");
// Halves round up, as in gleanvid/plots/labels.py.
export const percent = (fraction) => `${Number((100 * fraction * (1 + 1e-9)).toPrecision(3))} %`;
export const short = (value) => Number(value.toPrecision(3)).toLocaleString("en");
export const plural = (count, word) => `${count.toLocaleString("en")} ${word}${count === 1 ? "" : "s"}`;

// Format a time: "2.75 s", from one minute on "1:30" or "1:00:00".
export function timeText(seconds) {
  if (seconds < 60) return `${seconds.toFixed(2)} s`;
  const whole = Math.round(seconds);
  const [hours, minutes] = [Math.floor(whole / 3600), Math.floor(whole / 60) % 60];
  const two = (count) => String(count).padStart(2, "0");
  return hours ? `${hours}:${two(minutes)}:${two(whole % 60)}` : `${minutes}:${two(whole % 60)}`;
}

export const missing = (value) => value === null || value === undefined;

// Compare two values of a sorted column; missing values come last in either direction.
export function order(one, other, falling) {
  if (missing(one) || missing(other)) return Number(missing(one)) - Number(missing(other));
  const sign = typeof one === "string" ? one.localeCompare(other, "en", { numeric: true }) : Number(one) - Number(other);
  return falling ? -sign : sign;
}

// Open a tab of the page at a part of it; Back returns (assets/page/links.js).
export const openTab = (tab, part = "body") =>
  document.dispatchEvent(new CustomEvent("gleanvid:jump", { detail: { tab, part } }));

// A name for a file: clip, label of a run and what the file holds; as `file_name` in components/export/exports.py.
export const fileName = (clip, run, part) => [clip.replace(/\.\w+$/, "").slice(0, 60), run.slice(0, 80).toLowerCase(), part]
    .map((text) => text.replace(" %", "pct").replace(/[^\p{L}\p{N}_.]+/gu, "-").replace(/^[-.]+|[-.]+$/g, ""))
    .filter(Boolean).join("-");

// Let the browser save a file made by this script.
export function save(blob, name) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}
