// @ts-check
// Elements, figures, sorting and files: what viewer, results and settings share. Text from outside is
// only ever set as textContent.

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

// A header cell of a column, or with the scope "row" of a row.
export const header = (text, scope = "col", ...children) => Object.assign(make("th", "", text, ...children), { scope });

// A table of header cells and rows, with a caption where there is one.
export function table(className, caption, heads, rows) {
  const body = make("tbody", "", "", ...rows);
  const head = make("thead", "", "", make("tr", "", "", ...heads));
  return make("table", className, "", ...(caption ? [make("caption", "", caption)] : []), head, body);
}

export const verdict = (right) => (right ? "✓ right" : "✗ wrong");
export const short = (value) => Number(value.toPrecision(3)).toLocaleString("en");
export const plural = (count, word) => `${count.toLocaleString("en")} ${word}${count === 1 ? "" : "s"}`;

// "2.75 s", from one minute on "1:30", "1:00:00".
export function timeText(seconds) {
  if (seconds < 60) return `${seconds.toFixed(2)} s`;
  const whole = Math.round(seconds);
  const [hours, minutes] = [Math.floor(whole / 3600), Math.floor(whole / 60) % 60];
  const two = (count) => String(count).padStart(2, "0");
  return hours ? `${hours}:${two(minutes)}:${two(whole % 60)}` : `${minutes}:${two(whole % 60)}`;
}

export const missing = (value) => value === null || value === undefined;

// Compare two values of a sorted column; missing ones come last, whichever way.
export function order(one, other, falling) {
  if (missing(one) || missing(other)) return Number(missing(one)) - Number(missing(other));
  const sign = typeof one === "string" ? one.localeCompare(other, "en", { numeric: true }) : Number(one) - Number(other);
  return falling ? -sign : sign;
}

// Open a tab of the page, and bring a part of it into sight.
export function openTab(name, part = "body") {
  const tabs = [...document.querySelectorAll("[role=tab], .overflow-dropdown button")];
  /** @type {any} */ (tabs.find((tab) => tab.textContent.trim() === name))?.click();
  setTimeout(() => document.querySelector(part)?.scrollIntoView());
}

// Have the browser save a file made here.
export function save(blob, name) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}
